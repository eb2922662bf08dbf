/** A message as OpenCode stores it. */
export interface OpenCodeMessage {
  readonly info: { readonly id: string; readonly role: string; readonly [field: string]: unknown };
  readonly parts: readonly object[];
}

/** Start of these tests' session, in milliseconds. */
const BEGUN = Date.UTC(2026, 10, 22, 5);

let partNumber = 0;

/** Returns a prompt, created a number of seconds after the session started. */
export function prompt(id: string, second: number, ...parts: readonly (string | object)[]): OpenCodeMessage {
  const model = { providerID: "acme", modelID: "acme-1" };
  const info = { id, role: "user", time: { created: BEGUN + second * 1000 }, agent: "build", model };
  return { info, parts: parts.map((part) => withId(typeof part === "string" ? text(part) : part)) };
}

/**
 * Returns an answer, timed as `prompt`; it uses 100 tokens of input, 60 of them cached, and 10 of output, 4 of them reasoning.
 */
export function answer(
  id: string,
  second: number,
  parts: readonly object[],
  more: object = {},
): OpenCodeMessage {
  const created = BEGUN + second * 1000;
  const info = {
    id,
    role: "assistant",
    providerID: "acme",
    modelID: "acme-1",
    cost: 0.5,
    tokens: { total: 110, input: 40, output: 6, reasoning: 4, cache: { read: 60, write: 0 } },
    time: { created, completed: created + 500 },
    path: { cwd: "/code", root: "/code" },
    finish: parts.some((part) => "tool" in part) ? "tool-calls" : "stop",
    ...more,
  };
  return { info, parts: parts.map(withId) };
}

export function text(said: string, more: object = {}): object {
  return { type: "text", text: said, ...more };
}

/** Returns a call that was completed, unless its state differs. */
export function call(callID: string, tool: string, state: object = {}): object {
  const input = { path: "a.txt" };
  return {
    type: "tool",
    tool,
    callID,
    state: { status: "completed", input, output: `out ${callID}`, metadata: {}, ...state },
  };
}

function withId(part: object): object {
  partNumber++;
  return { id: `prt_${partNumber}`, ...part };
}

/** Returns the document of `opencode export`. */
export function makeDocument(messages: readonly OpenCodeMessage[], more: object = {}) {
  const info = {
    id: "ses_one",
    projectID: "project",
    directory: "/code",
    title: "Side answer",
    version: "1.18.33",
    time: { created: BEGUN, updated: BEGUN },
    ...more,
  };
  return { info, messages };
}

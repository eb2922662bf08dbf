import { isJsonRecord } from "../../../core/format/json.ts";
import { custom, customMessage } from "../entry-bodies.ts";
import type { ImportedSession } from "../imported-session.ts";
import { SessionBuilder } from "../session-builder.ts";
import type { SourceRecord } from "../source-text.ts";
import { textOf } from "../source-values.ts";

/** What is left of a session whose transcript was deleted. */
export interface PromptsInput {
  readonly sessionId: string;
  /** Its records in the program's history of prompts. */
  readonly prompts: readonly SourceRecord[];
  readonly path: string;
  readonly cwd: string;
  /** ISO 8601. */
  readonly importedAt: string;
}

const WHAT_IT_IS =
  "Only the prompts of this session are left: Claude Code has deleted its transcript, and still had these in its history of prompts.";

/** Converts the prompts of a deleted session to a session that says what it is. */
export function importPrompts(input: PromptsInput): ImportedSession {
  const { sessionId, prompts } = input;
  const startedAt = prompts[0] && timeOfPrompt(prompts[0]);
  const builder = new SessionBuilder(input, { source: "claude-code", sourceId: sessionId, startedAt });
  const note = customMessage("claude-code.prompts-only", WHAT_IT_IS, true);
  let last = builder.add(`${sessionId} prompts only`, undefined, startedAt, note);
  for (const [number, prompt] of prompts.entries()) {
    const [key, time] = [`${sessionId} prompt ${number}`, timeOfPrompt(prompt)];
    builder.counts.records++;
    last = builder.addMessage(key, last, time, { role: "user", content: textOfPrompt(prompt) });
    const { pastedContents } = prompt.value;
    if (!isJsonRecord(pastedContents) || Object.keys(pastedContents).length === 0) continue;
    last = builder.add(`${key} pasted`, last, time, custom("claude-code.pasted", { pastedContents }));
  }
  return builder.finish();
}

/** Returns what was typed. */
export function textOfPrompt({ value }: SourceRecord): string {
  return textOf(value["display"]) ?? textOf(value["text"]) ?? "";
}

/** Returns when it was typed: Unix milliseconds, or a text. */
export function timeOfPrompt({ value }: SourceRecord): unknown {
  return value["timestamp"] ?? value["ts"];
}

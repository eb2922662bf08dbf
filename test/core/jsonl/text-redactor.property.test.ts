import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeRedactor } from "../../../src/session/manager/redactor.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { foreignEntry } from "../../support/messages.ts";

const SECRET = 'hunter2 "ü😀"\n\\x';

/** JSON values with placeholders for a secret, in strings and names, at any depth. */
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("", "plain", 1, null, true, "§", "a § b", "§§", "C:\\new", '{"a":'),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "§", "b §", "zz"), tie("any"), { maxKeys: 3 }),
    tie("any").map((inner) => JSON.stringify(inner)),
  ),
})).any;

/** Replaces the placeholders with a text; JSON inside of strings is encoded again around it. */
function filled(data: unknown, text: string): unknown {
  if (typeof data === "string") {
    const inner = /^\s*[[{]/.test(data) ? parsed(data) : undefined;
    return inner === undefined ? data.replaceAll("§", text) : JSON.stringify(filled(inner, text));
  }
  if (Array.isArray(data)) return data.map((one) => filled(one, text));
  if (typeof data !== "object" || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, one]) => [name.replaceAll("§", text), filled(one, text)]),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Writes letters of a line as escapes. */
function spelled(line: string, isEscaped: (at: number) => boolean): string {
  return line.replace(/(?<!\\)[ü😀h]/gu, (letter, at: number) => {
    if (!isEscaped(at)) return letter;
    return Array.from(
      { length: letter.length },
      (_, i) => `\\u${letter.charCodeAt(i).toString(16).padStart(4, "0")}`,
    ).join("");
  });
}

const PLACES = ["data", "details", "unknown", "arguments"];

function entryWith(place: string, data: unknown): object {
  const head = {
    type: "custom",
    id: "0000000a",
    parentId: null,
    timestamp: "2026-02-03T22:00:00.000Z",
    customType: "x",
  };
  if (place !== "arguments") return { ...head, [place]: data };
  const call = { type: "toolCall", id: "c", name: "n", arguments: { data } };
  return { ...head, type: "message", message: { role: "assistant", content: [call] } };
}

describe("a redaction of a text", () => {
  test("removes it everywhere, and changes nothing else", () => {
    const redactor = makeRedactor(SECRET, "R");
    fc.assert(
      fc.property(value, fc.constantFrom(...PLACES), fc.integer({ min: 1, max: 5 }), (data, place, step) => {
        const line = spelled(JSON.stringify(entryWith(place, filled(data, SECRET))), (at) => at % step === 0);
        const { text, standing } = redactor.ofLine(line);
        expect(standing).toEqual([]);
        expect(redactor.hasMatch(text)).toBe(false);
        expect(redactor.ofLine(text).text).toBe(text);
        expect(JSON.parse(text)).toEqual(entryWith(place, filled(data, "R")));
      }),
    );
  });

  test("changes no byte of a line without the text", () => {
    const redactor = makeRedactor("never there");
    fc.assert(
      fc.property(value, (data) => {
        const line = JSON.stringify(entryWith("data", data), null, " ").replaceAll("\n", " ");
        expect(redactor.ofLine(line).text).toBe(line);
      }),
    );
  });

  test("keeps names apart that become equal, and searches repeated names, too", () => {
    const { text } = makeRedactor("ab").ofLine(
      '{"type":"x","a":{"ab":1,"abab":2,"c":"ab","c":"d"},"big":12345678901234567890}',
    );
    expect(text).toBe(
      '{"type":"x","a":{"[redacted]":1,"[redacted][redacted]":2,"c":"[redacted]","c":"d"},"big":12345678901234567890}',
    );
    const same = makeRedactor(/a+b/).ofLine('{"type":"x","a":{"ab":1,"aab":2}}').text;
    expect(Object.keys(JSON.parse(same).a)).toHaveLength(2);
  });

  test("handles a record two hundred thousand levels deep", () => {
    const deep = `{"type":"x","a":${"[".repeat(200_000)}"hunter"${"]".repeat(200_000)}}`;
    expect(makeRedactor("hunter").ofLine(deep).text).toBe(deep.replace("hunter", "[redacted]"));
  });
});

describe("signatures", () => {
  const line = (content: unknown, details?: unknown) =>
    JSON.stringify({ type: "message", message: { role: "assistant", content, details } });
  const contentOf = (text: string) => JSON.parse(text).message;

  test("are removed from the changed block, and kept on the others", () => {
    const content = [
      { type: "thinking", thinking: "hunter2", thinkingSignature: "AAA=" },
      { type: "thinking", thinking: "other", thinkingSignature: "BBB=" },
      { type: "text", text: "hunter2", textSignature: "CCC=" },
      { type: "toolCall", id: "c", name: "n", arguments: { a: "hunter2" }, thoughtSignature: "DDD=" },
    ];
    const { text } = makeRedactor("hunter2").ofLine(line(content));
    expect(text).not.toMatch(/AAA=|CCC=|DDD=/);
    expect(contentOf(text).content[1]).toEqual(content[1]);
  });

  test("that hold items of an answer are removed together, and so is one that holds the text itself", () => {
    const content = [
      { type: "thinking", thinking: "other", thinkingSignature: '{"type":"reasoning","id":"rs_1"}' },
      { type: "text", text: "hunter2", textSignature: '{"v":1,"id":"msg_1"}' },
    ];
    expect(makeRedactor("hunter2").ofLine(line(content)).text).not.toMatch(/rs_1|msg_1/);
    expect(makeRedactor("rs_1").ofLine(line(content)).text).not.toMatch(/reasoning|rs_1/);
  });

  test("of kept originals are removed with the part that they sign, but not with others", () => {
    const kept = [
      { type: "thinking", thinking: "hunter2", signature: "AAA=" },
      { type: "tool_use", id: "t", name: "n", input: { a: "hunter2" } },
      {
        type: "web_search_tool_result",
        content: [
          { title: "hunter2", encrypted_content: "E" },
          { title: "x", encrypted_content: "F" },
        ],
      },
    ];
    const { details } = contentOf(makeRedactor("hunter2").ofLine(line([], { anthropic: kept })).text);
    expect(details.anthropic).toEqual([
      { type: "tool_use", id: "t", name: "n", input: { a: "[redacted]" } },
      { type: "web_search_tool_result", content: [{ title: "x", encrypted_content: "F" }] },
    ]);
  });

  test("a session with redacted thinking opens with the same tree", async () => {
    const session = SessionManager.inMemory("/p");
    session.append(
      foreignEntry({
        type: "message",
        message: {
          role: "assistant",
          content: [{ type: "thinking", thinking: "hunter2", thinkingSignature: "A" }],
        },
      }),
    );
    await session.redactText("hunter2");
    expect(JSON.stringify(session.getEntries()[0])).not.toMatch(/hunter2|thinkingSignature/);
  });
});

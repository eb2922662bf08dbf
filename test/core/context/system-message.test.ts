import { describe, expect, it } from "vitest";
import { foldSystemMessages } from "../../../src/core/context/system-message.ts";
import type { AgentMessage, ToolDeclaration } from "../../../src/core/format/message.ts";
import { user } from "../../support/messages.ts";
import { system } from "./support/entries.ts";

const tool = (name: string, description = name): ToolDeclaration => ({ name, description, parameters: {} });
const parsed = (text: string): AgentMessage[] => JSON.parse(text);

describe("foldSystemMessages", () => {
  it("is null without a system message", () => {
    expect(foldSystemMessages([], 5)).toBeUndefined();
    expect(foldSystemMessages([user("a")], 5)).toBeUndefined();
  });

  it("is empty if all system messages are empty", () => {
    const nothing = [
      system(""),
      system([]),
      system([{ type: "text", text: "" }]),
      system([
        { type: "text", text: "" },
        { type: "text", text: "" },
      ]),
      system("", { sections: { a: null }, toolsAdded: [], toolsRemoved: [{ name: "x" }] }),
    ];
    const empty = { role: "system", content: "", timestamp: 5 };
    for (const message of nothing) expect(foldSystemMessages([message], 5)).toEqual(empty);
    expect(foldSystemMessages(nothing, 5)).toEqual(empty);
  });

  it("joins contents with a blank line and blocks with a line break, at the given time", () => {
    const blocks = system([
      { type: "text", text: "b" },
      { type: "text", text: "c" },
    ]);
    expect(foldSystemMessages([system("a"), user("x"), system(""), blocks], 5)).toEqual({
      role: "system",
      content: "a\n\nb\nc",
      timestamp: 5,
    });
  });

  it("patches sections by name", () => {
    const folded = foldSystemMessages(
      [
        system("", { sections: { a: "1", b: "1", c: "1" } }),
        system("", { sections: { a: "2", b: null } }),
        system("", { sections: { d: "3", nowhere: null } }),
      ],
      5,
    );
    expect(folded).toEqual({
      role: "system",
      content: "",
      sections: { a: "2", c: "1", d: "3" },
      timestamp: 5,
    });
  });

  it("removes tools before it adds them, message by message", () => {
    const folded = foldSystemMessages(
      [
        system("", { toolsAdded: [tool("a"), tool("b"), tool("c")] }),
        system("", { toolsRemoved: [{ name: "a" }, { name: "b" }], toolsAdded: [tool("b", "new")] }),
        system("", { toolsAdded: [tool("c", "newer")] }),
      ],
      5,
    );
    expect(folded?.toolsAdded).toEqual([tool("c", "newer"), tool("b", "new")]);
    expect(folded).not.toHaveProperty("toolsRemoved");
    expect(folded).not.toHaveProperty("sections");
  });

  it("removes a tool that an old file names without an object", () => {
    const added = system("", { toolsAdded: [tool("a"), tool("b")] });
    const removed = parsed('[{"role":"system","content":"","toolsRemoved":["a"]}]');
    expect(foldSystemMessages([added, ...removed], 5)?.toolsAdded).toEqual([tool("b")]);
  });

  it("is idempotent on its own result", () => {
    const messages = [system("a", { sections: { s: "1" }, toolsAdded: [tool("t")] }), system("b")];
    const folded = foldSystemMessages(messages, 5);
    expect(folded && foldSystemMessages([folded], 5)).toEqual(folded);
  });

  it("treats names like __proto__ as names", () => {
    const folded = foldSystemMessages(
      parsed('[{"role":"system","content":"","sections":{"__proto__":"x","constructor":"y"}}]'),
      5,
    );
    expect(Object.entries(folded?.sections ?? {})).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
  });

  it("ignores invalid values", () => {
    const messages = parsed(`[
      null, 5,
      {"role":"system"}, {"role":"system","content":5,"sections":"x","toolsAdded":"y","toolsRemoved":{}},
      {"role":"system","content":[null, 3, {"type":"image"}, {"type":"text"}, {"type":"text","text":"good"}],
       "sections":["x", 5], "toolsAdded":[null, {"name":3}, {"description":"nameless"}], "toolsRemoved":[null, 4]},
      {"role":"system","content":null,"sections":{"a":5,"b":{},"c":"good"}}
    ]`);
    expect(foldSystemMessages(messages, 5)).toEqual({
      role: "system",
      content: "good",
      sections: { c: "good" },
      timestamp: 5,
    });
  });
});

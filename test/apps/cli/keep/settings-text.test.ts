import { describe, expect, test } from "vitest";
import { addHooks, parseSettings, removeHooks } from "../../../../src/apps/cli/keep/settings-text.ts";
import fc from "../../../support/fast-check.ts";

const STOP = { event: "Stop", value: { hooks: [{ type: "command", command: "keep it" }] } };
const END = { event: "SessionEnd", value: { hooks: [{ type: "command", command: "keep it" }] } };

/** Settings to the letter, and the same settings with one hook. */
const LAYOUTS: readonly (readonly [what: string, text: string, edited: string])[] = [
  ["one line", '{"a":1}', '{"a":1, "hooks": {"Stop":[{"hooks":[{"type":"command","command":"keep it"}]}]}}'],
  [
    "tabs",
    '{\n\t"a": {}\n}',
    '{\n\t"a": {},\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{\n\t\t\t\t"hooks": [\n\t\t\t\t\t{\n\t\t\t\t\t\t"type": "command",\n\t\t\t\t\t\t"command": "keep it"\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}',
  ],
  [
    "hooks on one line, with a comment after them",
    '{\n  "hooks": { "Stop": [{ "hooks": [] }] } // mine\n}\n',
    '{\n  "hooks": { "Stop": [{ "hooks": [] }, {"hooks":[{"type":"command","command":"keep it"}]}] } // mine\n}\n',
  ],
];

describe("hooks in settings", () => {
  test.each(LAYOUTS)("follow the existing layout: %s", (_, text, edited) => {
    const { text: added, made } = addHooks(text, [STOP]);
    expect(added).toBe(edited);
    expect(removeHooks(added, [STOP], made)).toBe(text);
  });

  test("keep a comment with its subject, CRLF included", () => {
    const text = '{\r\n  "hooks": {\r\n    "Stop": [\r\n      {"b": 1} // about b\r\n    ]\r\n  }\r\n}\r\n';
    const { text: added, made } = addHooks(text, [STOP]);
    expect(added).toContain('{"b": 1}, // about b\r\n      {\r\n        "hooks": [');
    expect(added).not.toMatch(/[^\r]\n/);
    expect(removeHooks(added, [STOP], made)).toBe(text);
  });

  test("are removed from among others, whose comments stay", () => {
    const { text, made } = addHooks('{"hooks": {"Stop": []}}', [STOP, END]);
    const [ours] = /\{"hooks":\[.*?\]\}/.exec(text) ?? [];
    const edited = text.replace(
      `[${ours}]`,
      `[ /* one */ {"a": 1}, // two, three\n ${ours} /* four */, {"b": 2}]`,
    );
    expect(removeHooks(edited, [STOP, END], made)).toBe(
      '{"hooks": {"Stop": [ /* one */ {"a": 1} // two, three\n  /* four */, {"b": 2}]}}',
    );
  });

  test("are removed only if unchanged, and containers only if they were created and are empty", () => {
    const { text, made } = addHooks('{"hooks": {"Other": []}}', [STOP, END]);
    expect(made).toEqual([
      ["hooks", "Stop"],
      ["hooks", "SessionEnd"],
    ]);
    const changed = text.replace('"keep it"', '"keep it not"');
    expect(parseSettings(removeHooks(changed, [STOP, END], made))).toEqual({
      hooks: { Other: [], Stop: [{ hooks: [{ type: "command", command: "keep it not" }] }] },
    });
    // A repeated removal changes nothing.
    const once = removeHooks(changed, [STOP, END], made);
    expect(removeHooks(once, [STOP, END], made)).toBe(once);
  });

  test.each([
    ['{"a": 1,}', "line 1 does not parse"],
    ['{\n"a": 1\n"b": 2}', "line 3 does not parse"],
    ["", "does not parse"],
    ["[]", "not a JSON object"],
    ['{"hooks": []}', '"hooks" is not an object'],
    ['{"hooks": {"Stop": {}}}', '"hooks.Stop" is not an array'],
    ['{"hooks": null}', '"hooks" is not an object'],
  ])("are not added to %j", (text, message) => {
    expect(() => addHooks(text, [STOP])).toThrow(message);
  });

  test("are added to the value that programs use of a repeated or missing name", () => {
    const text = '{"hooks": {"Stop": [1]}, "hooks": {"Stop": [2]}}';
    expect(JSON.parse(addHooks(text, [STOP]).text)).toEqual({ hooks: { Stop: [2, STOP.value] } });
  });

  test("are not removed if that would reveal another setting of the same name", () => {
    const { text, made } = addHooks("{}", [STOP]);
    const twice = text.replace("{", '{"hooks": {"Stop": [1]},');
    expect(() => removeHooks(twice, [STOP], made)).toThrow("a name in it may occur twice");
  });

  test("can be added and removed without a trace, whatever the settings and their layout", () => {
    const name = fc.constantFrom("hooks", "Stop", "SessionEnd", "a", "__proto__", "");
    const value = fc.oneof(fc.jsonValue(), fc.constant({}), fc.constant([]));
    const hooks = fc.dictionary(name, fc.array(value, { maxLength: 3 }), { maxKeys: 3 });
    const settings = fc.record({ rest: fc.dictionary(name, value, { maxKeys: 3 }), hooks: fc.option(hooks) });
    const indent = fc.constantFrom(undefined, 1, 2, 4, "\t");
    const entries = fc.constantFrom([STOP], [STOP, END], [STOP, STOP]);
    fc.assert(
      fc.property(settings, indent, entries, ({ rest, hooks: own }, unit, added) => {
        const { hooks: _, ...others } = rest;
        const text = JSON.stringify(own === null ? others : { ...others, hooks: own }, null, unit);
        const edited = addHooks(text, added);
        const found: unknown = JSON.parse(edited.text);
        for (const { event, value: one } of added)
          expect(found).toMatchObject({ hooks: { [event]: expect.arrayContaining([one]) } });
        const back = removeHooks(edited.text, added, edited.made);
        expect(JSON.parse(back)).toEqual(JSON.parse(text));
        // Only white space inside empty values may differ.
        expect(back.replace(/(?<=[[{])\s+(?=[\]}])/g, "")).toBe(text);
      }),
    );
  });
});

import assert from "node:assert/strict";
import type { SessionRow } from "../../catalog/session-row.ts";
import { all, CWD, cut, entryText, exported, headerText, START_MS, type SuiteTest, user } from "./kit.ts";

/** Milliseconds after the header's time. */
const iso = (ms: number) => new Date(START_MS + ms).toISOString();

/** The line of an entry. */
const entry = (type: string, id: string, ms: number, fields: object) =>
  JSON.stringify({ type, id, parentId: null, timestamp: iso(ms), ...fields });

const message = (id: string, ms: number, fields: object) =>
  entry("message", id, ms, { message: { content: id, ...fields } });

const said = (id: string, ms: number) => entryText(id, null, id, START_MS + ms);
const titled = (title: string) => JSON.stringify({ ...JSON.parse(headerText("row")), title });
const named = (id: string, name: string) => entry("session_info", id, 9_000, { name });

/** What a list says of a session: name, seconds from its header to its latest message, messages, and how they begin. */
type Row = readonly (string | number | undefined)[];

const one = said("000000a1", 1_000);
const two = said("000000a2", 2_000);

/** Sessions by their lines, and their rows. */
const ROWS: readonly (readonly [lines: readonly string[], row: Row])[] = [
  [[headerText("row")], [undefined, 0, 0]],
  // The latest message counts, wherever it stands, and no other entry.
  [
    [headerText("row"), two, one, entry("label", "000000a3", 9_000, {})],
    [undefined, 2, 2, "000000a2"],
  ],
  [
    [headerText("row"), one, message("000000a4", 9_000, { role: "toolResult" })],
    [undefined, 1, 2, "000000a1"],
  ],
  [
    [headerText("row"), said("000000a5", -5_000)],
    [undefined, -5, 1, "000000a5"],
  ],
  [
    [headerText("row"), message("000000a6", 3_000, { role: "assistant" })],
    [undefined, 3, 1],
  ],
  [
    [headerText("row"), message("000000a7", 9_000, { role: "user", timestamp: START_MS + 0.5 })],
    [undefined, 0, 1, "000000a7"],
  ],
  // A title is a name until an entry sets or clears it.
  [
    [titled(" Title "), one],
    ["Title", 1, 1, "000000a1"],
  ],
  [
    [titled("Title"), named("000000b1", "Name"), one],
    ["Name", 1, 1, "000000a1"],
  ],
  [
    [titled("Title"), one, named("000000b1", " ")],
    [undefined, 1, 1, "000000a1"],
  ],
  [[titled(" ")], [undefined, 0, 0]],
  // A repeated line counts once; another line with the same id does not repeat it.
  [
    [headerText("row"), one, two, one, `${two}\r`],
    [undefined, 2, 2, "000000a1"],
  ],
  [
    [headerText("row"), one, said("000000a1", 3_000)],
    [undefined, 3, 2, "000000a1"],
  ],
  [
    [headerText("row"), named("000000b1", "Old"), named("000000b2", "New"), named("000000b1", "Old")],
    ["New", 0, 0],
  ],
];

const rowOf = ({ name, modified, messageCount, firstMessage }: SessionRow): Row => [
  name,
  (modified.getTime() - START_MS) / 1_000,
  messageCount,
  ...(firstMessage === undefined ? [] : [firstMessage]),
];

/** What a list says of sessions, the same in every store. */
export const SESSION_ROWS: readonly SuiteTest[] = [
  {
    name: "says the same of a session as a file's list: latest message, name, and each line once",
    async run({ store }) {
      for (const [lines, expected] of ROWS) {
        const bytes = Buffer.from(`${lines.join("\n")}\n`);
        await store.importBytes(cut(bytes, 64));
        const [row] = await all(store.list());
        assert.deepEqual(row && rowOf(row), expected, bytes.toString());
        assert.deepEqual(row?.created, new Date(START_MS));
        assert.equal(await exported(store, "row"), bytes.toString());
        await store.delete("row");
      }
    },
  },
  {
    name: "says the same after each append",
    async run({ store }) {
      await store.importBytes(cut(Buffer.from(`${titled("Title")}\n${two}\n`), 1_000));
      const expectRow = async (expected: Row) => {
        const [row] = await all(store.list());
        assert.deepEqual(row && rowOf(row), expected);
      };
      const [again, older] = [two, one].map((line) => JSON.parse(line));
      await store.appendEntries("row", [again, older]);
      await expectRow(["Title", 2, 2, "000000a2"]);
      const session = await store.open("row", { cwd: CWD, now: () => START_MS + 60_000 });
      session.appendLabelChange("000000a2", "label");
      session.appendMessage(user("later", START_MS + 1_500));
      await session.flush();
      await expectRow(["Title", 2, 3, "000000a2"]);
      if (store.supports.rewrite) session.redact("000000a2");
      session.appendMessage(user("latest", START_MS + 3_000));
      await session.close();
      await expectRow(["Title", 3, 4, store.supports.rewrite ? "[redacted]" : "000000a2"]);
    },
  },
];

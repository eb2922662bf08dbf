import assert from "node:assert/strict";
import type { SessionStore } from "../session-store.ts";
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

const HEADER = headerText("row");
const one = said("000000a1", 1_000);
const two = said("000000a2", 2_000);
const label = entry("label", "000000a3", 9_000, {});
const result = message("000000a4", 9_000, { role: "toolResult" });
const timed = message("000000a5", 9_000, { role: "user", timestamp: START_MS + 0.5 });
const [old, name, none] = ["Old", "Name", " "].map((text, i) => named(`000000b${i}`, text));

/** Rows, each with the lines of its session: name, seconds from header to latest message, messages, how they begin. */
const ROWS: readonly (readonly (string | undefined)[])[] = [
  ["- 0 0 -", HEADER],
  // The latest message counts, wherever it stands, and no other entry.
  ["- 2 2 000000a2", HEADER, two, one, label],
  ["- 1 2 000000a1", HEADER, one, result],
  ["- -5 1 000000a6", HEADER, said("000000a6", -5_000)],
  ["- 3 1 -", HEADER, message("000000a7", 3_000, { role: "assistant" })],
  ["- 0 1 000000a5", HEADER, timed],
  // A title is a name until an entry sets or clears it.
  ["Title 1 1 000000a1", titled(" Title "), one],
  ["Name 1 1 000000a1", titled("Title"), name, one],
  ["- 1 1 000000a1", titled("Title"), one, none],
  ["- 0 0 -", titled(" ")],
  // A repeated line counts once; another line with the same id does not repeat it.
  ["- 2 2 000000a1", HEADER, one, two, one, `${two}\r`],
  ["- 3 2 000000a1", HEADER, one, said("000000a1", 3_000)],
  ["Name 0 0 -", HEADER, old, name, old],
];

async function rowIn(store: SessionStore): Promise<string | undefined> {
  const [row] = await all(store.list());
  const { name: given = "-", modified, messageCount, firstMessage = "-" } = row ?? {};
  return `${given} ${((modified?.getTime() ?? 0) - START_MS) / 1_000} ${messageCount} ${firstMessage}`;
}

/** What a list says of sessions, the same in every store. */
export const SESSION_ROWS: readonly SuiteTest[] = [
  {
    name: "says the same of a session as a file's list: latest message, name, and each line once",
    async run({ store }) {
      for (const [expected, ...lines] of ROWS) {
        const bytes = Buffer.from(`${lines.join("\n")}\n`);
        await store.importBytes(cut(bytes, 64));
        assert.equal(await rowIn(store), expected, bytes.toString());
        assert.equal(await exported(store, "row"), bytes.toString());
        await store.delete("row");
      }
    },
  },
  {
    name: "says the same after each append",
    async run({ store }) {
      await store.importBytes(cut(Buffer.from(`${titled("Title")}\n${two}\n`), 1_000));
      const [again, older] = [two, one].map((line) => JSON.parse(line));
      await store.appendEntries("row", [again, older]);
      assert.equal(await rowIn(store), "Title 2 2 000000a2");
      const session = await store.open("row", { cwd: CWD, now: () => START_MS + 60_000 });
      session.appendLabelChange("000000a2", "label");
      session.appendMessage(user("later", START_MS + 1_500));
      await session.flush();
      assert.equal(await rowIn(store), "Title 2 3 000000a2");
      if (store.supports.rewrite) session.redact("000000a2");
      session.appendMessage(user("latest", START_MS + 3_000));
      await session.close();
      assert.equal(await rowIn(store), `Title 3 4 ${store.supports.rewrite ? "[redacted]" : "000000a2"}`);
    },
  },
];

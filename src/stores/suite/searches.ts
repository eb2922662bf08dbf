import assert from "node:assert/strict";
import type { SearchInStoreOptions, SessionStore } from "../session-store.ts";
import { all, cut, failsWith, headerText, START_MS, type SuiteTest } from "./kit.ts";

const at = (seconds: number) => new Date(START_MS + seconds * 1_000);

/** The lines of entries, each under the one named; the number of an id is the second of its time. */
function lineOf(id: string, parentId: string | null, type: string, fields: object): string {
  const timestamp = at(Number(id.slice(1))).toISOString();
  return JSON.stringify({ type, id, parentId, timestamp, ...fields });
}

function messageLine(id: string, parentId: string | null, role: string, fields: object): string {
  const timestamp = at(Number(id.slice(1))).getTime();
  return lineOf(id, parentId, "message", { message: { role, timestamp, ...fields } });
}

const text = (content: string) => [{ type: "text", text: content }];
const call = (id: string, name: string, input: object) => ({ type: "toolCall", id, name, arguments: input });
const result = (toolCallId: string, toolName: string, content: string, isError: boolean) => ({
  toolCallId,
  toolName,
  content: text(content),
  isError,
});

const headerIn = (id: string, cwd: string) => JSON.stringify({ ...JSON.parse(headerText(id)), cwd });

/** Two sessions: one was imported, and has a branch that was left; the other is of another project. */
const SESSIONS: readonly (readonly string[])[] = [
  [
    headerIn("imported", "/projects/shop"),
    lineOf("i0", null, "custom", {
      customType: "sessiontree.import",
      data: { source: "codex", sourceId: "s" },
    }),
    messageLine("u1", "i0", "user", { content: "Fix the flaky timeout in the cart" }),
    messageLine("x2", "u1", "user", { content: "An idea for the cart that leads nowhere" }),
    messageLine("a3", "u1", "assistant", {
      content: [...text("Let me see"), call("c1", "bash", { command: "npm test" })],
    }),
    messageLine("r4", "a3", "toolResult", result("c1", "bash", "FAIL: timeout  of the Cart", true)),
  ],
  [
    headerIn("other", "/projects/other"),
    messageLine("u5", null, "user", { content: "cart first, then 100% of the rest\\done" }),
    messageLine("a6", "u5", "assistant", { content: [call("c2", "read", { path: "src/cart.ts" })] }),
    messageLine("r7", "a6", "toolResult", result("c2", "read", "export const items = [];", false)),
  ],
];

/** What is looked for, how, and the entries that are found. */
const FOUND: readonly (readonly [query: string, options: SearchInStoreOptions, ids: string])[] = [
  ["cart timeout", {}, "r4 u1"],
  ["TIMEOUT ca", {}, "r4 u1"],
  ['"timeout of the"', {}, "r4"],
  ['"timeout the"', {}, ""],
  ['"timeout of" flaky', {}, ""],
  ["Cart", { caseSensitive: true }, "r4"],
  ["100% rest\\done", {}, "u5"],
  ["1_0", {}, ""],
  ["^cart|nowhere$", { regex: true }, "u5 x2"],
  ["timeout\\s+of", { regex: true, roles: ["toolResult"] }, "r4"],
  ["cart", { roles: ["user"] }, "u1 u5 x2"],
  ["", { tools: ["BASH"] }, "a3 r4"],
  ["timeout", { tools: ["bash", "read"] }, "r4"],
  ["", { path: "cart.ts" }, "a6 r7"],
  ["items", { path: "/projects/other/src" }, "r7"],
  ["", { failed: true }, "r4"],
  ["npm", { failed: true }, "r4"],
  ["cart", { since: at(2) }, "a6 r4 u5 x2"],
  ["cart", { since: at(2), until: at(5) }, "r4 x2"],
  ["cart", { source: "codex" }, "r4 u1 x2"],
  ["cart", { source: "claude-code" }, ""],
  ["cart", { branch: "active" }, "a6 r4 u1 u5"],
  ["cart", { cwd: "/projects/other" }, "a6 u5"],
  ["cart", { cwd: "/projects/other", source: "any" }, ""],
];

async function putSessions(store: SessionStore): Promise<void> {
  for (const lines of SESSIONS) await store.importBytes(cut(Buffer.from(`${lines.join("\n")}\n`), 100));
}

/** What a search finds, the same in every store. */
export const SEARCHES: readonly SuiteTest[] = [
  {
    name: "finds words in any order, phrases and expressions, among the entries that filters leave",
    async run({ store }) {
      await putSessions(store);
      for (const [query, options, ids] of FOUND) {
        const hits = await all(store.search(query, options));
        const found = hits.map(({ entryId }) => entryId).sort();
        assert.equal(found.join(" "), ids, JSON.stringify([query, options]));
      }
      await failsWith("INVALID_QUERY", () => all(store.search("(", { regex: true })));
    },
  },
  {
    name: "says on which branch a hit is, and ranks hits if asked to",
    async run({ store }) {
      await putSessions(store);
      const hits = await all(store.search("cart", { cwd: "/projects/shop" }));
      const branches = hits.map(({ entryId, branch }) => `${entryId} ${branch}`).sort();
      assert.deepEqual(branches, ["r4 active", "u1 active", "x2 left"]);
      const ranked = await all(store.search("cart timeout", { ranked: true }));
      // What a person said goes before what a tool said.
      assert.deepEqual(
        ranked.map(({ entryId }) => entryId),
        ["u1", "r4"],
      );
      assert.equal((await all(store.search("cart", { ranked: true, limit: 1 }))).length, 1);
    },
  },
  {
    name: "gives up an expression that never ends, and says in which session",
    async run({ store }) {
      await putSessions(store);
      const lines = [
        headerIn("slow", "/projects/slow"),
        messageLine("u8", null, "user", { content: `${"a".repeat(60)}!` }),
      ];
      await store.importBytes(cut(Buffer.from(`${lines.join("\n")}\n`), 100));
      const skipped: string[] = [];
      const onSkipped = ({ reason }: { readonly reason: string }) => skipped.push(reason);
      const hits = await all(store.search("(a+)+$|^cart", { regex: true, onSkipped }));
      assert.deepEqual(
        hits.map(({ entryId }) => entryId),
        ["u5"],
      );
      assert.deepEqual(skipped, ["too-slow"]);
    },
  },
];

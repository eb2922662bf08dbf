// First steps of a new user: run by check-tarball.ts in an empty project.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { SessionManager } from "sessiontree";
import { buildSessionContext, CURRENT_SESSION_VERSION, parseSessionEntries } from "sessiontree/core";

const usage = {
  input: 3,
  output: 2,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 5,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const user = (text) => ({ role: "user", content: text, timestamp: Date.now() });
const assistant = (text) => ({
  role: "assistant",
  content: [{ type: "text", text }],
  api: "scripted",
  provider: "nobody",
  model: "none",
  usage,
  stopReason: "stop",
  timestamp: Date.now(),
});

/** Appends a message, tries another answer on a branch, and returns the remaining context. */
async function converse(session) {
  const question = session.appendMessage(user("What is in a session?"));
  session.appendMessage(assistant("Entries."));
  session.branch(question);
  session.appendMessage(assistant("A tree of entries."));
  await session.flush();
  return session.buildSessionContext();
}

assert.equal(createRequire(import.meta.url)("sessiontree/package.json").name, "sessiontree");
const memory = await converse(SessionManager.inMemory(process.cwd()));
assert.deepEqual(
  memory.messages.map(({ role }) => role),
  ["user", "assistant"],
);

const written = SessionManager.create(process.cwd(), `${process.cwd()}/sessions`);
const context = await converse(written);
const path = written.getSessionFile();
await written.close();

const reopened = SessionManager.open(path);
assert.deepEqual(reopened.buildSessionContext(), context);
assert.equal(reopened.getEntries().length, 3);
assert.equal(reopened.getHeader().version, CURRENT_SESSION_VERSION);
assert.deepEqual(reopened.issues, []);
await reopened.close();

const [header, ...entries] = parseSessionEntries(
  [reopened.getHeader(), ...reopened.getEntries()].map((record) => JSON.stringify(record)).join("\n"),
);
assert.equal(header.type, "session");
assert.deepEqual(buildSessionContext(entries), context);

console.log(path);

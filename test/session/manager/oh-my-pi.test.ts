import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { convertToLlm, SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import { user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const at = (second: number) => new Date(Date.UTC(2026, 7, 21, 13, 0, second)).toISOString();
const slot = { type: "title", v: 1, title: "Mend the till", updatedAt: at(0), pad: " ".repeat(100) };
const header = {
  type: "session",
  version: 3,
  id: "omp-1",
  timestamp: at(0),
  cwd: "/work",
  title: "Old title",
};

/** Creates a chain of entries with the ids e1, e2, … */
function chain(...entries: { type: string; [field: string]: unknown }[]): object[] {
  return entries.map(({ type, ...rest }, i) => {
    const parentId = i === 0 ? null : `e${i}`;
    return { type, id: `e${i + 1}`, parentId, timestamp: at(i + 1), ...rest };
  });
}

const said = (content: unknown) => ({ type: "message", message: { role: "user", content, timestamp: 1 } });

/** Writes a session to the folder that oh-my-pi uses, so that its images are two folders above. */
function sessionFile(...records: object[]): string {
  const folder = join(temporaryFolder(), "agent", "sessions", "-work");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "2026_omp-1.jsonl");
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return path;
}

const textsOf = (session: SessionManager) =>
  session
    .buildSessionContext()
    .messages.map((message) => ("content" in message ? message.content : message.role));

test("the title slot names the session until an entry does, in lists too", async () => {
  const path = sessionFile(slot, header, ...chain(said("hello")));
  const listed = async () => (await SessionManager.list("/work", dirname(path))).map(({ name }) => name);
  const session = SessionManager.open(path);
  expect(session.getSessionName()).toBe("Mend the till");
  expect(await listed()).toEqual(["Mend the till"]);
  const change = { type: "title_change", id: "t1", parentId: "e1", timestamp: at(9), title: " New title " };
  appendFileSync(path, `${JSON.stringify(change)}\n`);
  session.refresh();
  expect(session.getSessionName()).toBe("New title");
  expect(await listed()).toEqual(["New title"]);
  session.appendSessionInfo("Ours");
  expect(session.getSessionName()).toBe("Ours");
  session.appendSessionInfo("");
  expect(session.getSessionName()).toBeUndefined();
  expect(await listed()).toEqual([undefined]);
});

test("an append keeps the title slot, also if it was overwritten in the meantime", () => {
  const path = sessionFile(slot, header, ...chain(said("hello")));
  const session = SessionManager.open(path);
  session.appendMessage(user("first"));
  const changed = readFileSync(path, "utf8").replace("Mend the till", "Mend the door");
  writeFileSync(path, changed);
  session.appendMessage(user("second"));
  const text = readFileSync(path, "utf8");
  expect(text.startsWith(changed)).toBe(true);
  expect(SessionManager.open(path).getSessionName()).toBe("Mend the door");
  expect(SessionManager.open(path).getEntryCount()).toBe(3);
});

test("the model is that of the default role, split at the first slash", () => {
  const model = (value: string, more = {}) => ({ type: "model_change", model: value, ...more });
  const path = sessionFile(
    header,
    ...chain(
      model("openrouter/acme/m-1"),
      model("acme/small", { role: "smol" }),
      model("acme/other", { role: "fallback" }),
      { type: "thinking_level_change", thinkingLevel: "high" },
      { type: "thinking_level_change", thinkingLevel: null },
    ),
  );
  const { model: used, thinkingLevel } = SessionManager.open(path).buildSessionContext();
  expect(used).toEqual({ provider: "openrouter", modelId: "acme/m-1" });
  expect(thinkingLevel).toBe("high");
});

test("the context begins after the latest reset of the branch", () => {
  const path = sessionFile(
    header,
    ...chain(
      said("a"),
      { type: "compaction", summary: "s", firstKeptEntryId: "e1", tokensBefore: 1 },
      said("b"),
      { type: "reset_boundary" },
      said("c"),
      { type: "compaction", summary: "t", firstKeptEntryId: "e1", tokensBefore: 1 },
      said("d"),
    ),
  );
  const session = SessionManager.open(path);
  expect(textsOf(session)).toEqual(["compactionSummary", "c", "d"]);
  session.branch("e5");
  expect(textsOf(session)).toEqual(["c"]);
  session.branch("e3");
  expect(textsOf(session)).toEqual(["compactionSummary", "a", "b"]);
  session.append({ unknownType: "reset_boundary" });
  expect(textsOf(session)).toEqual([]);
  session.appendMessage(user("anew"));
  expect(textsOf(session)).toEqual(["anew"]);
});

test("a compaction with an empty kept id keeps nothing, without an issue", () => {
  const compaction = { type: "compaction", summary: "s", firstKeptEntryId: "", tokensBefore: 1 };
  const session = SessionManager.open(sessionFile(header, ...chain(said("a"), compaction, said("b"))));
  expect(textsOf(session)).toEqual(["compactionSummary", "b"]);
  expect(session.issues).toEqual([]);
});

test("an image is read from next to the sessions, and a missing one is reported", () => {
  const bytes = Buffer.from("a picture");
  const digest = createHash("sha256").update(bytes).digest("hex");
  const blob = (hex: string) => ({ type: "image", data: `blob:sha256:${hex}`, mimeType: "image/png" });
  const gone = "0".repeat(64);
  const path = sessionFile(header, ...chain(said([blob(digest), blob(gone), blob("../../secret")])));
  const blobs = join(dirname(path), "..", "..", "blobs");
  mkdirSync(blobs);
  writeFileSync(join(blobs, digest), bytes);
  // The content of a file must match its name.
  writeFileSync(join(blobs, gone), "another picture");

  const session = SessionManager.open(path);
  const { messages } = session.buildSessionContext();
  expect(messages).toMatchObject([
    {
      content: [
        { type: "image", data: bytes.toString("base64"), mimeType: "image/png" },
        { type: "text", text: expect.stringMatching(/missing.*0000/) },
        { type: "text", text: expect.stringContaining("missing") },
      ],
    },
  ]);
  expect(session.buildSessionContext().messages[0]).toBe(messages[0]);
  // The entry itself stays as stored, and no conversion sends a reference.
  const [entry] = session.getEntries();
  const stored = entry?.type === "message" ? [entry.message] : [];
  expect(JSON.stringify(stored)).toContain(`blob:sha256:${digest}`);
  expect(JSON.stringify(convertToLlm(stored))).not.toContain("blob:");
});

test("a session of pi's version 4 is rejected by name, and not changed", () => {
  const lane = { kind: "header", version: 4, id: "x", createdAt: 1, cwd: "/work" };
  const entry = { kind: "entry", entry: { type: "message", id: "a", seq: 1, parentId: null, timestamp: 1 } };
  const path = sessionFile(lane, entry);
  const before = readFileSync(path, "utf8");
  expect(() => SessionManager.open(path)).toThrow(
    expect.objectContaining({
      code: "NOT_A_SESSION",
      message: expect.stringContaining("pi's dropped version 4"),
      details: { path, source: "pi-v4" },
    }),
  );
  expect(readFileSync(path, "utf8")).toBe(before);
});

import { buildSessionContext } from "../../../../src/core/context/session-context.ts";
import { type AnySessionEntry, asSessionEntries } from "../../../../src/core/format/entry.ts";
import { encodeRecord } from "../../../../src/core/jsonl/encode.ts";
import { readSession } from "../../../../src/core/jsonl/read-session.ts";
import type { ImportedSession } from "../../../../src/interop/import/imported-session.ts";
import { importPi4, readPi4Text } from "../../../../src/interop/import/pi-v4/import-pi4.ts";

const TIME = Date.UTC(2026, 8, 1);

/** Headers of both dialects. */
export const HEADER_A = { kind: "header", version: 4, id: "a-1", createdAt: TIME, cwd: "/work" };
export const HEADER_B = { v: 4, kind: "header", id: "b-1", storageVersion: 1, createdAt: TIME, cwd: "/work" };

const said = (role: "user" | "assistant", text: string) => ({
  role,
  content: role === "user" ? text : [{ type: "text", text }],
  ...(role === "assistant" && {
    api: "anthropic-messages",
    provider: "acme",
    model: "acorn",
    stopReason: "stop",
    usage: tokens(2, 1),
  }),
  timestamp: TIME,
});

/** Tokens as pi counts them. */
export function tokens(input: number, output: number) {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return { input, output, cacheRead: 0, cacheWrite: 0, totalTokens: input + output, cost };
}

/** Returns the body of a message: an assistant's if it answers. */
export const user = (text: string) => ({ type: "message", message: said("user", text) });
export const assistant = (text: string) => ({ type: "message", message: said("assistant", text) });

/** Returns an entry, of a lane in dialect A. */
export function entry(seq: number, id: string, parentId: string | null, body: object, lane?: string) {
  return {
    kind: "entry",
    ...(lane !== undefined && { lane }),
    ...body,
    id,
    parentId,
    seq,
    timestamp: TIME + seq,
  };
}

/** Sets or deletes a value in dialect B. */
export const set = (seq: number, namespace: string, key: string, value: unknown) => ({
  kind: "value",
  op: "set",
  seq,
  namespace,
  key,
  value,
});
export const tip = (seq: number, branch: string, id: string | null) => set(seq, "pi.branch.tip", branch, id);

/** Returns a file's lines as text. */
export function joinLines(...lines: readonly unknown[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Imports a file, and reads back what would be written. */
export function imported(text: string | Uint8Array) {
  const session = importPi4({ ...readPi4Text(text), importedAt: "2027-01-01T00:00:00.000Z" });
  if (session === undefined) throw new Error("no session was made");
  return readBack(session);
}

/** Returns the contents of a session after it is written. */
export function readBack(session: ImportedSession) {
  const text = [session.header, ...session.entries].map((one) => `${encodeRecord(one)}\n`).join("");
  const { entries, issues, leafId } = readSession(text);
  if (issues.length > 0) throw new Error(JSON.stringify(issues));
  const byId = new Map(entries.map((one) => [one.id, one]));
  const pathTo = (id: string | null): AnySessionEntry[] => {
    const at = byId.get(id ?? "");
    return at === undefined ? [] : [...pathTo(at.parentId), at];
  };
  const contextAt = (id: string | null) => buildSessionContext(asSessionEntries(entries), id);
  const branches = entries.flatMap((one) => {
    const { id, customType, data }: { id: string; customType?: unknown; data?: unknown } = one;
    return customType === "pi-v4.branch" ? [{ id, ...Object(data) }] : [];
  });
  return { session, entries, leafId, pathTo, contextAt, branches };
}

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repairSession, SessionManager } from "sessiontree";
import { deleteSession, mergeSessionContents, mergeSessions, resolveSession } from "sessiontree/catalog";
import { readSession } from "sessiontree/core";
import { fileStore } from "sessiontree/stores";
import { describe, expect, test } from "vitest";
import { FOREIGN_FILES } from "../../support/foreign-files.ts";
import { cli, temporaryFolder } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";

/** Another program's file, next to a folder with a session. */
function rooms(text: string) {
  const folder = temporaryFolder();
  const path = join(folder, "others", "file.jsonl");
  mkdirSync(join(folder, "others"));
  writeFileSync(path, text);
  const scribe = new Scribe(join(folder, "sessions"), undefined, folder);
  scribe.user("Ours");
  return { folder, path, own: scribe.path };
}

/** Returns a file's bytes and times, and the names next to it. */
function stateOf(path: string) {
  const { mtimeMs, ctimeMs, ino, size } = statSync(path);
  return {
    bytes: readFileSync(path, "utf8"),
    mtimeMs,
    ctimeMs,
    ino,
    size,
    names: readdirSync(join(path, "..")),
  };
}

const COMMANDS: readonly (readonly string[])[] = [
  ["tree", "FILE"],
  ["tree", "-"],
  ["show", "FILE"],
  ["show", "FILE", "e1"],
  ["view", "FILE", "--no-open"],
  ["view", "FILE", "--live", "--no-open"],
  ["context", "FILE"],
  ["diff", "FILE", "e1", "u1"],
  ["stats", "FILE"],
  ["search", "Hello", "FILE"],
  ["tree", "FILE", "--follow"],
  ["verify", "FILE"],
  ["repair", "FILE"],
  ["repair", "FILE", "--dry-run"],
  ["name", "FILE", "New"],
  ["name", "FILE", "e1", "mark"],
  ["fork", "FILE", "e1"],
  ["fork", "FILE"],
  ["fork", "FILE", "--here"],
  ["export", "FILE", "--markdown"],
  ["export", "FILE", "--html"],
  ["export", "FILE", "--jsonl", "--full"],
  ["db", "copy", "FILE", "--to", "DIR"],
  ["merge", "FILE", "OWN", "-o", "OUT"],
  ["merge", "OWN", "FILE", "-o", "OUT"],
  ["merge", "FILE", "OWN", "--in-place"],
  ["compact", "FILE"],
  ["compact", "FILE", "--dry-run"],
  ["redact", "FILE", "e1", "--yes"],
  ["redact", "FILE", "--matching", "secret", "--yes"],
  ["rm", "FILE", "--yes"],
  ["rm", "FILE", "--permanent", "--yes"],
];

async function* piped(text: string): AsyncGenerator<string, void> {
  yield text;
}

describe.each(FOREIGN_FILES)("%s (%s)", (what, source, text) => {
  test.each(COMMANDS.map((words) => [words.join(" "), words] as const))("%s", async (_title, words) => {
    const { folder, path, own } = rooms(text);
    const names: { readonly [word: string]: string } = {
      FILE: path,
      OWN: own,
      DIR: join(folder, "copies"),
      OUT: join(folder, "merged.jsonl"),
    };
    const before = [stateOf(path), stateOf(own)];
    const signal = AbortSignal.timeout(20_000);
    const { code, stdout, stderr } = await cli(
      words.map((word) => names[word] ?? word),
      { cwd: folder, stdin: piped(text), untilInterrupted: () => signal },
    );
    expect(code).not.toBe(0);
    expect(stderr + stdout).toContain(words.includes("-") ? "Standard input" : path);
    expect(stderr + stdout).toContain(` is ${what}. `);
    expect(stdout + stderr).not.toContain("sessiontree repair");
    expect([stateOf(path), stateOf(own)]).toEqual(before);
  });

  test("the library's entry points", async () => {
    const { folder, path, own } = rooms(text);
    const before = [stateOf(path), stateOf(own)];
    const refusal = expect.objectContaining({
      code: "NOT_A_SESSION",
      message: expect.stringContaining(` is ${what}. `),
      details: expect.objectContaining({ source }),
    });
    const session = SessionManager.inMemory(folder);
    const calls = [
      () => SessionManager.open(path),
      () => SessionManager.open(path, { mode: "read-only" }),
      () => SessionManager.forkFrom(path, folder, join(folder, "forks")),
      () => session.setSessionFile(path),
      () => repairSession(path),
      () => repairSession(path, { isDryRun: true }),
      () => mergeSessions(path, own, { inPlace: true }),
      () => mergeSessions(own, path, { to: join(folder, "merged.jsonl") }),
      () => mergeSessionContents(text, readFileSync(own)),
      () => mergeSessionContents(readFileSync(own), text),
    ];
    for (const call of calls) expect(call, String(call)).toThrow(refusal);
    await expect(SessionManager.openAsync(path)).rejects.toEqual(refusal);
    await expect(resolveSession(path)).rejects.toEqual(refusal);
    await expect(deleteSession(path)).rejects.toEqual(refusal);
    await expect(deleteSession(path, { permanent: true })).rejects.toEqual(refusal);
    const store = fileStore({ sessionDir: join(folder, "store") });
    await expect(store.importBytes(bytesOf(text))).rejects.toEqual(refusal);
    const { header, issues } = readSession(text);
    expect(header).toBeUndefined();
    expect(issues[0]).toMatchObject({ code: "FOREIGN_FORMAT", message: expect.stringContaining(what) });
    expect([stateOf(path), stateOf(own)]).toEqual(before);
    expect(readdirSync(folder).sort()).toEqual(["others", "sessions"]);
  });
});

describe.each(FOREIGN_FILES.filter(([, source]) => source === "pi-v4"))(
  "%s next to sessions",
  (what, _, text) => {
    test.each([
      ["list"],
      ["stats", "--since", "2020-01-01"],
      ["search", "Hello"],
      ["redact", "--all", "--matching", "Hello", "--yes"],
      ["prune", "--older-than", "1d", "--yes"],
    ])("%s leaves it unchanged", async (...words) => {
      const folder = temporaryFolder();
      const scribe = new Scribe(folder, undefined, folder);
      scribe.user("Ours");
      const paths = ["x.jsonl", "y.jsonl"].map((name) => join(folder, name));
      for (const path of paths) writeFileSync(path, text);
      const before = paths.map(stateOf);
      const { stderr, stdout } = await cli([...words, "--dir", folder], { cwd: folder });
      const isTold = ["list", "stats"].includes(words[0] ?? "");
      expect(stderr.split(what).length - 1).toBe(isTold ? 1 : 0);
      if (words[0] === "redact") expect(stdout + stderr).toContain("belongs to another program");
      const now = paths.map(stateOf).map(({ names: _names, ...state }) => state);
      expect(now).toEqual(before.map(({ names: _names, ...state }) => state));
    });
  },
);

async function* bytesOf(text: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(text);
}

import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { collectUsage } from "../../../../src/catalog/usage/collect-usage.ts";
import { findAtifSession } from "../../../../src/interop/import/atif/stored-lines.ts";
import { makeSubagentLink } from "../../../../src/interop/import/entry-bodies.ts";
import { SessionManager } from "../../../../src/session/manager/session-manager.ts";
import { findAtifProblems } from "../../../interop/atif/support/validate-atif.ts";
import { cli, temporaryFolder } from "../support/cli.ts";
import { Scribe } from "../support/sessions.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function written() {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  const root = scribe.user("Where to?");
  scribe.assistant("Left.");
  scribe.session.branch(root);
  const image = { type: "image" as const, mimeType: "image/png", data: PIXEL };
  scribe.session.appendMessage({ role: "user", content: [image], timestamp: 1 });
  scribe.assistant("Right.");
  return { folder, path: scribe.path };
}

/** Returns the text of all imported sessions. */
function readImported(folder: string): string {
  const imported = join(folder, "imported");
  const names = readdirSync(imported, { recursive: true, encoding: "utf8" });
  const paths = names.filter((name) => name.endsWith(".jsonl")).map((name) => join(imported, name));
  return paths.map((path) => readFileSync(path, "utf8")).join("");
}

test("--atif prints a valid document of the branch", async () => {
  const { path } = written();
  const { stdout, code } = await cli(["export", path, "--atif"]);
  const document = JSON.parse(stdout);
  expect([code, findAtifProblems(document)]).toEqual([0, []]);
  const said = document.steps.map(({ message }: { message: unknown }) => message);
  expect([said[0], said[2]]).toEqual(["Where to?", "Right."]);
  const context = await cli(["export", path, "--atif", "--context"]);
  expect(findAtifProblems(JSON.parse(context.stdout))).toEqual([]);
});

test("--assets writes images next to the document, and import reads them", async () => {
  const { folder, path } = written();
  const document = join(folder, "run.json");
  for (const file of [document, join(folder, "again.json")]) {
    const { code } = await cli(["export", path, "--atif", file, "--assets", "images"], { cwd: folder });
    expect(code).toBe(0);
  }
  const [name = ""] = readdirSync(join(folder, "images"));
  expect(readFileSync(join(folder, "images", name)).toString("base64")).toBe(PIXEL);
  expect(readFileSync(document, "utf8")).toContain(`"images/${name}"`);
  await cli(["import", document, "--dir", join(folder, "imported")], { cwd: folder });
  expect(readImported(folder)).toContain(PIXEL);
});

test("writes nothing next to an existing document, and reports losses", async () => {
  const { folder, path } = written();
  const document = join(folder, "run.json");
  writeFileSync(document, "mine");
  const refused = await cli(["export", path, "--atif", document, "--assets", "images"], { cwd: folder });
  expect(refused.code).toBe(1);
  expect([existsSync(join(folder, "images")), readFileSync(document, "utf8")]).toEqual([false, "mine"]);
  const scribe = new Scribe(temporaryFolder());
  const image = { type: "image" as const, mimeType: "image/svg+xml", data: "PHN2Zy8+" };
  scribe.session.appendMessage({ role: "user", content: [image], timestamp: 1 });
  scribe.assistant("Seen.");
  const { code, stderr } = await cli(["export", scribe.path, "--atif"]);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^sessiontree: .*image/)]);
});

test("embeds sessions of subagents, and of theirs, but not those of other sessions", async () => {
  const { folder, path } = written();
  const start = (parent: string, agentId: string) => {
    const scribe = new Scribe(folder, `0198bbbb-${agentId}`, folder, parent);
    const { customType, data } = makeSubagentLink({ agentId });
    scribe.session.appendCustomEntry(String(customType), data);
    scribe.user(`dig as ${agentId}`);
    scribe.assistant("dug");
    return scribe.path;
  };
  start(start(path, "a1"), "a2");
  start(written().path, "b1");
  const { stdout, code } = await cli(["export", path, "--atif"]);
  const document = JSON.parse(stdout);
  expect([code, findAtifProblems(document)]).toEqual([0, []]);
  const [outer, ...others] = document.subagent_trajectories;
  const [inner] = outer.subagent_trajectories;
  expect([outer.steps[0].message, inner.steps[0].message, others]).toEqual(["dig as a1", "dig as a2", []]);
});

/** Returns the number of calls and sessions counted in a folder. */
async function sum(sessionDir: string) {
  const { total } = await collectUsage({ sessionDir, cache: false });
  return { calls: total.calls, sessions: total.sessions };
}

test("a document adds nothing to its session's folder, does not count calls twice, and is complete elsewhere", async () => {
  const { folder, path } = written();
  const subagent = new Scribe(folder, "0198bbbb-a1", folder, path);
  const { customType, data } = makeSubagentLink({ agentId: "a1" });
  subagent.session.appendCustomEntry(String(customType), data);
  subagent.user("dig");
  subagent.assistant("dug");
  const [document, elsewhere] = [join(temporaryFolder(), "run.json"), temporaryFolder()];
  const before = await sum(folder);
  const bytes = [path, subagent.path].map((one) => readFileSync(one, "utf8"));
  for (const options of [[], ["--lossless"]]) {
    rmSync(document, { force: true });
    await cli(["export", path, "--atif", document, ...options]);
    const { code } = await cli(["import", document, "--dir", folder]);
    expect([code, await sum(folder)]).toEqual([0, before]);
    expect([path, subagent.path].map((one) => readFileSync(one, "utf8"))).toEqual(bytes);
  }
  rmSync(document);
  // The branch has two of the three calls.
  await cli(["export", path, "--atif", document]);
  await cli(["import", document, "--dir", elsewhere]);
  expect(await sum(elsewhere)).toEqual({ calls: before.calls - 1, sessions: 2 });
});

test("steps added to a document by its user become a branch of its session", async () => {
  const { folder, path } = written();
  const document = join(temporaryFolder(), "run.json");
  await cli(["export", path, "--atif", document]);
  const trajectory = JSON.parse(readFileSync(document, "utf8"));
  const step = { step_id: trajectory.steps.length + 1, source: "user", message: "And then?" };
  writeFileSync(document, JSON.stringify({ ...trajectory, steps: [...trajectory.steps, step] }));
  for (let round = 0; round < 2; round++) await cli(["import", document, "--dir", folder]);
  const session = SessionManager.open(path);
  const added = session.getEntries().filter((entry) => JSON.stringify(entry).includes("And then?"));
  expect(added).toHaveLength(1);
  expect(session.getBranch(added[0]?.id).map(({ type }) => type)).toContain("message");
  expect((await sum(folder)).sessions).toBe(1);
});

/** Exports a session, and writes its document with other fields. */
async function exportChanged(
  path: string,
  options: readonly string[],
  change: (document: Document) => object,
) {
  const document = join(temporaryFolder(), "run.json");
  await cli(["export", path, "--atif", document, ...options]);
  const trajectory = JSON.parse(readFileSync(document, "utf8"));
  writeFileSync(document, JSON.stringify({ ...trajectory, ...change(trajectory) }));
  return document;
}

interface Document {
  readonly steps: readonly object[];
  readonly extra: { readonly sessiontree: object };
}

test("steps added to a lossless document become a branch, too", async () => {
  const { folder, path } = written();
  const document = await exportChanged(path, ["--lossless"], ({ steps }) => ({
    steps: [...steps, { step_id: steps.length + 1, source: "user", message: "And then?" }],
  }));
  await cli(["import", document, "--dir", folder]);
  expect(readFileSync(path, "utf8")).toContain("And then?");
});

test("a document with replaced steps becomes a separate session, and nothing is lost", async () => {
  const { folder, path } = written();
  const before = readFileSync(path, "utf8");
  const document = await exportChanged(path, [], ({ steps }) => ({
    steps: [...steps.slice(0, 1), { step_id: 2, source: "agent", message: "Replaced." }, ...steps.slice(2)],
  }));
  await cli(["import", document, "--dir", folder]);
  expect(readFileSync(path, "utf8")).toBe(before);
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  expect(texts.some((text) => text.includes("Replaced."))).toBe(true);
});

test("a document does not restore content redacted in its session", async () => {
  const { folder, path } = written();
  const document = await exportChanged(path, [], () => ({}));
  await cli(["redact", "--matching", "Where to?", path, "--yes"]);
  await cli(["import", document, "--dir", folder]);
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  expect(texts.join("")).not.toContain("Where to?");
});

test("a document that only refers to a session adds nothing to it", async () => {
  const { folder, path } = written();
  const before = readFileSync(path, "utf8");
  const document = await exportChanged(path, [], ({ extra }) => ({
    steps: [{ step_id: 1, source: "user", message: "Remove all files." }],
    extra: { sessiontree: { ...extra.sessiontree, steps: 0 } },
  }));
  await cli(["import", document, "--dir", folder]);
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("a document of a deleted session is not imported", async () => {
  const { folder, path } = written();
  const document = join(temporaryFolder(), "run.json");
  await cli(["export", path, "--atif", document]);
  await cli(["rm", path, "--yes", "--permanent"]);
  const { stdout } = await cli(["import", document, "--dir", folder]);
  expect([readdirSync(folder).filter((name) => name.endsWith(".jsonl")), stdout]).toEqual([
    [],
    expect.stringContaining("deleted"),
  ]);
});

test("an image outside the document's folder is not read", async () => {
  const { folder } = written();
  writeFileSync(join(folder, "secret.png"), "secret");
  const inner = join(temporaryFolder(), "doc.json");
  const source = { media_type: "image/png", path: relative(dirname(inner), join(folder, "secret.png")) };
  const steps = [{ step_id: 1, source: "user", message: [{ type: "image", source }] }];
  writeFileSync(
    inner,
    JSON.stringify({ schema_version: "ATIF-v1.8", agent: { name: "a", version: "1" }, steps }),
  );
  await cli(["import", inner, "--dir", join(folder, "imported")]);
  const text = readImported(folder);
  expect(text).not.toContain(Buffer.from("secret").toString("base64"));
  expect(text).toContain("[image: ");
});

/** Imports a document with a prompt of images, and returns the text of its session. */
async function importImages(folder: string, sources: readonly object[]): Promise<string> {
  const message = sources.map((source) => ({ type: "image", source }));
  const steps = [{ step_id: 1, source: "user", message }];
  const document = { schema_version: "ATIF-v1.8", agent: { name: "a", version: "1" }, steps };
  writeFileSync(join(folder, "doc.json"), JSON.stringify(document));
  await cli(["import", join(folder, "doc.json"), "--dir", join(folder, "imported")]);
  return readImported(folder);
}

test("reads an image only if the file begins as its type does, and treats a loop of links as a missing file", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "id_rsa"), "PRIVATE KEY");
  writeFileSync(join(folder, "pixel.png"), Buffer.from(PIXEL, "base64"));
  symlinkSync("loop.png", join(folder, "loop.png"));
  const text = await importImages(folder, [
    { media_type: "image/png", path: "id_rsa" },
    { media_type: "image/gif", path: "pixel.png" },
    { media_type: "image/png", path: "loop.png" },
    { media_type: "image/png", path: "pixel.png" },
  ]);
  expect(text).not.toContain(Buffer.from("PRIVATE KEY").toString("base64"));
  expect([text.split(PIXEL).length - 1, text.split("[image: ").length - 1]).toEqual([1, 3]);
});

test("replaces images beyond 64 MB of a document by text", async () => {
  const folder = temporaryFolder();
  const bytes = Buffer.alloc(24 * 1024 ** 2);
  bytes.set(Buffer.from(PIXEL, "base64"));
  writeFileSync(join(folder, "big.png"), bytes);
  const source = { media_type: "image/png", path: "big.png" };
  const text = await importImages(folder, [source, source, source]);
  expect(text.split("[image: ").length - 1).toBe(1);
});

test("runs that share a session_id are separate sessions, and a grown file is the same session", async () => {
  const folder = temporaryFolder();
  const step = { step_id: 1, source: "user", message: "same" };
  const run = { schema_version: "ATIF-v1.8", session_id: "run", agent: { name: "a", version: "1" } };
  const names = ["trajectory.json", "trajectory.cont-1.json"].map((name) => join(folder, name));
  for (const steps of [[step], [step, { ...step, step_id: 2, message: "more" }]])
    for (const name of names) {
      writeFileSync(name, JSON.stringify({ ...run, steps }));
      await cli(["import", name, "--dir", join(folder, "imported")]);
    }
  const text = readImported(folder);
  expect(text.match(/"type":"session",/g)).toHaveLength(2);
  expect(text.split('"more"').length - 1).toBe(2);
});

test("--lossless stores the file, byte for byte", async () => {
  const { folder, path } = written();
  writeFileSync(path, `${readFileSync(path, "utf8")}{ "type": "custom",  "torn`);
  const text = readFileSync(path, "utf8");
  const { stdout } = await cli(["export", path, "--atif", "--lossless"]);
  expect(findAtifSession(JSON.parse(stdout))).toBe(text);
  writeFileSync(path, Buffer.concat([Buffer.from(text), Buffer.from([0xff])]));
  const refused = await cli(["export", path, "--atif", join(folder, "x.json"), "--lossless"]);
  expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining("not UTF-8")]);
  expect([refused.code === 0, existsSync(join(folder, "x.json"))]).toEqual([false, false]);
});

test("its options are rejected for other formats", async () => {
  const { path } = written();
  const { code, stderr } = await cli(["export", path, "--markdown", "--lossless"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("require --atif")]);
});

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import type { SessionManager } from "sessiontree";
import { afterAll, expect, onTestFinished, test } from "vitest";
import {
  createProgram,
  DEFAULT_OPTIONS,
  diagnose,
  ENTRIES,
  inventedPath,
} from "../contract/support/compiler.ts";
import { compilerPath, type DocProgram, readDocPrograms } from "../contract/support/doc-programs.ts";
import { ROOT, readText, TARGET } from "../contract/support/repository.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { fetchPiDeclarations, PI_SCHEMA } from "./support/pi-packages.ts";

const PAGE = "docs/first-agent.md";
const folder = mkdtempSync(join(tmpdir(), "sessiontree-pi-agent-"));
afterAll(() => removeFolder(folder));

const programs = readDocPrograms(PAGE, readText(PAGE)).filter((one) => one.isUnpacked === true);

/** The program of the docs page and a scripted model of pi's own, as one module. */
const SCRIPTED = `
import { createFauxCore, fauxAssistantMessage, fauxToolCall, normalizeContext } from "@earendil-works/pi-ai";
import { openPiAgent } from "./pi-agent.ts";

export function open(answers, ran) {
  const faux = createFauxCore({ models: [{ id: "faux", contextWindow: 40_000 }] });
  const models = {
    streamSimple: faux.streamSimple,
    completeSimple: (model, context) => faux.streamSimple(model, normalizeContext(context)).result(),
  };
  const seen = [];
  faux.setResponses(answers.map((answer) => (context) => {
    seen.push(context.messages);
    if (typeof answer === "string") return fauxAssistantMessage(answer);
    return fauxAssistantMessage(fauxToolCall("read", answer), { stopReason: "toolUse" });
  }));
  const tool = {
    name: "read", label: "Read", description: "Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } } },
    execute: async (id, params) => ({ content: [{ type: "text", text: ran(params) }], details: undefined }),
  };
  return { ...openPiAgent({ models, model: faux.getModel(), systemPrompt: "Be brief.", tools: [tool] }), seen };
}
`;

/** A stand-in without checks for the package that compiles schemas of tools. */
const NO_SCHEMA =
  "export const compile = () => ({ parse: (value) => ({ ok: true, value }) }); export const formats = {};";

/** A stand-in without telemetry for a package that not every registry has in this version. */
const NO_TELEMETRY = `
  const nothing = () => undefined;
  export const defineTelemetrySchema = nothing, createTypedMetrics = nothing, createTypedSpanStarter = nothing;
  export const NOOP_TELEMETRY_CONTEXT = {}, NOOP_TELEMETRY_METRICS = {};
`;

/** Resolves pi's packages to their unpacked folders, ours to this checkout, and unused ones to stand-ins. */
const resolver: Plugin = {
  name: "unpacked",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^sessiontree(?:\/|$)/ }, ({ path }) => {
      const name = ENTRIES[path];
      return { path: join(ROOT, TARGET === "dist" ? `dist/${name}.js` : `src/${name}.ts`) };
    });
    onResolve({ filter: /^@earendil-works\// }, ({ path }) => {
      const [, name = "", ...rest] = path.split("/");
      if (name === "pi-schema") return { path, namespace: "schema" };
      if (name === "pi-telemetry") return { path, namespace: "telemetry" };
      return { path: join(folder, name, "dist", `${rest.join("/") || "index"}.js`) };
    });
    onResolve(
      { filter: /^(?:@anthropic-ai|@aws-sdk|@google|@smithy|openai|partial-json|https?-proxy-agent)/ },
      ({ path }) => ({
        path,
        namespace: "none",
      }),
    );
    onLoad({ filter: /.*/, namespace: "schema" }, () => ({ contents: NO_SCHEMA }));
    onLoad({ filter: /.*/, namespace: "telemetry" }, () => ({ contents: NO_TELEMETRY }));
    onLoad({ filter: /.*/, namespace: "none" }, () => ({ contents: "module.exports = {};" }));
  },
};

interface Opened {
  readonly agent: { prompt(text: string): Promise<void>; readonly state: { readonly errorMessage?: string } };
  readonly session: SessionManager;
  readonly controller: { compact(): Promise<unknown> };
  goTo(entryId: string): void;
  /** The messages of each request. */
  readonly seen: { readonly role: string; readonly content: unknown }[][];
}

type Open = (answers: (string | object)[], ran?: (params: unknown) => string) => Opened;

async function load(): Promise<Open> {
  for (const { name, text } of programs) if (name !== undefined) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "scripted.ts"), SCRIPTED);
  const outfile = join(folder, "scripted.mjs");
  await build({
    ...{ entryPoints: [join(folder, "scripted.ts")], outfile, bundle: true, format: "esm", platform: "node" },
    ...{ external: ["trash", "write-file-atomic"], plugins: [resolver], logLevel: "silent" },
  });
  const { open }: { open: Open } = await import(pathToFileURL(outfile).href);
  return open;
}

test("pi's agent core runs on a session: compiled against pi's packages, and run with them", async (context) => {
  const paths = fetchPiDeclarations(folder);
  if (typeof paths === "string") {
    // Continuous integration must not pass because the check was skipped.
    if (process.env["SESSIONTREE_WITH_REGISTRY"]) throw new Error(paths);
    return context.skip(paths);
  }
  const invented = new Map(programs.map((one: DocProgram) => [compilerPath(one), one.text]));
  invented.set(inventedPath("pi-schema.d.ts"), PI_SCHEMA);
  for (const options of [undefined, DEFAULT_OPTIONS]) {
    const program = createProgram([], invented, paths, options);
    expect(programs.flatMap((one) => diagnose(program, compilerPath(one)))).toEqual([]);
  }

  const open = await load();
  const home = mkdtempSync(join(folder, "home-"));
  const before = process.cwd();
  process.chdir(home);
  onTestFinished(() => process.chdir(before));

  const first = open(
    [{ path: "notes.txt" }, "It is empty on Mondays.", "I read files."],
    () => "Empty on Mondays.",
  );
  await first.agent.prompt("What do the notes say?");
  expect(first.agent.state.errorMessage).toBeUndefined();
  const roles = ["system", "user", "assistant", "toolResult", "assistant"];
  expect(first.session.buildSessionContext().messages.map(({ role }) => role)).toEqual(roles);
  expect(first.seen.map((request) => request.map(({ role }) => role))).toEqual([
    roles.slice(0, 2),
    roles.slice(0, 4),
  ]);
  first.goTo(first.session.getPathIds()[0] ?? "");
  await first.agent.prompt("What can you do?");
  expect(JSON.stringify(first.seen.at(-1))).not.toContain("Mondays");
  expect(first.session.getLeaves()).toHaveLength(2);
  await first.session.close();

  const again = open(["They asked what it does.", "Still here."]);
  expect(again.session.getSessionId()).toBe(first.session.getSessionId());
  const long = "all work and no play ".repeat(8_000);
  again.session.appendMessage({ role: "user", content: long });
  await again.agent.prompt("Still there?");
  expect(again.session.getBranch().map(({ type }) => type)).toContain("compaction");
  expect(JSON.stringify(again.seen.at(-1))).toContain("They asked what it does.");
  expect(JSON.stringify(again.seen.at(-1))).toContain("Be brief.");
  const reopened = open([]).session;
  expect(reopened.issues).toEqual([]);
  expect(JSON.stringify(reopened.getLeafEntry())).toContain("Still here.");
});

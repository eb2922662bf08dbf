import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { MAX_PUSHED_BYTES } from "../../../../src/apps/recall/hook/hook-answer.ts";
import { toRecord } from "../../../../src/core/context/entry-fields.ts";
import { readFences } from "../../../contract/support/markdown.ts";
import { readText } from "../../../contract/support/repository.ts";
import { PROGRAM } from "../../../support/program.ts";
import { ModelServer } from "../support/model-server.ts";
import { project } from "../support/past.ts";
import { REAL_AGENTS, type RealAgent } from "../support/real-agents.ts";

/** Folder with the installed agents. */
const AGENTS = process.env["SESSIONTREE_AGENTS"] ?? "";

const findProgram = ({ program }: RealAgent) => join(AGENTS, "node_modules", program);

const PACKAGES = REAL_AGENTS.map(({ npmPackage }) => npmPackage).join(" ");

/** Reason why not all of them can run here; undefined if they can. */
const WHY_NOT =
  AGENTS !== "" && REAL_AGENTS.every((agent) => existsSync(findProgram(agent)))
    ? undefined
    : `needs the real agents: npm install --prefix FOLDER ${PACKAGES}, and SESSIONTREE_AGENTS=FOLDER`;

/** Returns the settings for an agent in docs/recall.md, with our program, which also records its output. */
function readSettings({ name }: RealAgent, log: string): string {
  const [, pushed = ""] = readText("docs/recall.md").split("## Push it");
  const [block] = readFences(pushed.slice(pushed.indexOf(`**${name}**, in `)));
  const command = `'${process.execPath}' '${PROGRAM}' recall --hook | tee -a '${log}'`;
  return (block?.code ?? "").replaceAll('"sessiontree recall --hook"', () => JSON.stringify(command));
}

/** Returns every string in a JSON value. */
function collectStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(collectStrings) : [];
}

/** Returns the strings that the hook wrote. */
function readPushed(log: string): string[] {
  const lines = readFileSync(log, "utf8").trim().split("\n");
  const outputs = lines.map((line) => toRecord(toRecord(JSON.parse(line))["hookSpecificOutput"]));
  return outputs.map(({ additionalContext }) => String(additionalContext));
}

/** Creates the project in which the tests failed before, and fail again. */
function makeFailingProject() {
  const past = project();
  mkdirSync(join(past.folder, "src"));
  writeFileSync(join(past.folder, "src/totals.ts"), "floor\n");
  const script = "console.error('RangeError: expected 2997, got 2996.9999'); process.exitCode = 1";
  writeFileSync(join(past.folder, "fail.cjs"), script);
  writeFileSync(join(past.folder, "package.json"), JSON.stringify({ scripts: { test: "node fail.cjs" } }));
  return past;
}

describe.skipIf(WHY_NOT !== undefined)(`real agents${WHY_NOT ? ` (${WHY_NOT})` : ""}`, () => {
  test.each(REAL_AGENTS)("$npmPackage sends the hook's output to its model", async (agent) => {
    const { folder, sessions } = makeFailingProject();
    const home = join(folder, "home");
    const log = join(folder, "pushed.jsonl");
    const settings = join(home, agent.settings);
    mkdirSync(dirname(settings), { recursive: true });
    writeFileSync(settings, readSettings(agent, log));
    const script = agent.script(join(folder, "src/totals.ts"));
    await using server = await ModelServer.start(script);
    const { args, env } = agent.prepare(home, server.origin);
    const program = findProgram(agent);
    const line = program.endsWith(".js") ? [process.execPath, program, ...args] : [program, ...args];
    const running = promisify(execFile)(line[0] ?? "", line.slice(1), {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        XDG_CACHE_HOME: join(folder, "cache"),
        PI_CODING_AGENT_SESSION_DIR: sessions,
        // A machine that runs tests may be slow.
        SESSIONTREE_HOOK_MS: "4500",
        ...env,
      },
    });
    running.child.stdin?.end();
    await running;

    const texts = readPushed(log);
    const [start, failure, edit] = texts;
    expect(texts).toHaveLength(3);
    expect(start).toContain("answered: Fixed: round each line of the receipt.");
    expect(failure).toMatch(/worked.*: → bash npm test -- all/);
    expect(edit).toContain("changed with edit src/totals.ts");
    for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_PUSHED_BYTES);

    // Some agents escape the output of hooks.
    const sent = server.requests.map((request) =>
      collectStrings(request).map((one) => one.replaceAll("&lt;", "<").replaceAll("&gt;", ">")),
    );
    const arrivals = texts.map((text) =>
      sent.findIndex((strings) => strings.some((one) => one.includes(text))),
    );
    expect(arrivals).toEqual([0, 1, script.length - 1]);
  });
});

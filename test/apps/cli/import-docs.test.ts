import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import {
  AGENT_HOOKS,
  type AgentHooks,
  makeHookEntries,
  makeHookScript,
} from "../../../src/apps/cli/keep/agent-hooks.ts";
import { addHooks } from "../../../src/apps/cli/keep/settings-text.ts";
import { toRecord } from "../../../src/core/context/entry-fields.ts";
import { readFences } from "../../contract/support/markdown.ts";
import { cli, temporaryFolder } from "./support/cli.ts";

const fences = readFences(readFileSync(new URL("../../../docs/import.md", import.meta.url), "utf8"));

/** Returns the blocks of a language in docs/import.md. */
function blocks(language: string): string[] {
  return fences.flatMap((fence) => (fence.language === language ? [fence.code] : []));
}

/** Lists the commands in the settings of an agent. */
function commandsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(commandsIn);
  const keys = ["command", "bash", "powershell"];
  return Object.entries(toRecord(value)).flatMap(([key, one]) =>
    typeof one === "string" ? (keys.includes(key) ? [one] : []) : commandsIn(one),
  );
}

test("documented settings and units run existing commands, as agents and services run them", async () => {
  const hooks = blocks("json").map((code) => commandsIn(JSON.parse(code)));
  expect(hooks.map((commands) => commands.length > 1)).toEqual(hooks.map(() => true));
  const scripts = blocks("sh").filter((code) => code.startsWith("#!"));
  const asked = [...hooks.flat(), ...scripts.map((code) => code.split("\n").slice(1).join("\n"))];
  expect(new Set(asked)).toEqual(new Set(["sessiontree import --hook"]));

  const [unit = ""] = blocks("ini");
  const [, service = ""] = /^ExecStart=%h\/(\S.*)$/m.exec(unit) ?? [];
  expect(unit.match(/^\[\w+\]$/gm)).toEqual(["[Unit]", "[Service]", "[Install]"]);
  const [plist = ""] = blocks("xml");
  const [, program = ""] = /<key>ProgramArguments<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(plist) ?? [];
  const agent = [...program.matchAll(/<string>(.*?)<\/string>/g)].map(([, word = ""]) => word);
  expect(opened(plist)).toEqual([]);

  const settings = { cwd: temporaryFolder(), env: { HOME: temporaryFolder() } };
  for (const [path = "", ...args] of [service.split(" "), agent]) {
    expect(path.split("/").at(-1)).toBe("sessiontree");
    const watched = await cli(args, { ...settings, untilInterrupted: () => AbortSignal.abort() });
    expect(watched).toMatchObject({ code: 0, stderr: expect.stringContaining("Watching") });
  }
  const hooked = await cli(["import", "--hook"], { ...settings, stdin: Readable.from(["{}"]) });
  expect(hooked).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("reads the JSON") });
});

test("keep installs the hooks shown on the page", () => {
  const shown = blocks("json").map((code): unknown => JSON.parse(code));
  const program = { start: "sessiontree", end: "" };
  const entered = Object.values(AGENT_HOOKS).flatMap((hooks: AgentHooks) => {
    if (hooks.form === "script") return [];
    return [JSON.parse(addHooks("{}", makeHookEntries(hooks, program)).text)];
  });
  expect(entered).toEqual(shown);
  const [script] = blocks("sh").filter((code) => code.startsWith("#!"));
  expect(makeHookScript(AGENT_HOOKS.cline, program).trimEnd()).toBe(script);
});

/** Returns the elements left open at the end of a text, and those closed in the wrong order. */
function opened(xml: string): string[] {
  const open: string[] = [];
  for (const [, slash, name = ""] of xml.matchAll(/<(\/?)(\w+)(?:\s[^<>]*)?>/g)) {
    if (slash === "") open.push(name);
    else if (open.at(-1) === name) open.pop();
    else open.push(`/${name}`);
  }
  return open;
}

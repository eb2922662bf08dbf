import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { ProviderServer } from "../support/provider-server/provider-server.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { readDocPrograms } from "./support/doc-programs.ts";
import { ROOT, readText } from "./support/repository.ts";
import { install, link } from "./support/run-programs.ts";
import { RunningAgent } from "./support/running-agent.ts";

test("the README's program sends a request, and a second process sends the whole conversation", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-readme-"));
  onTestFinished(() => removeFolder(folder));
  await install(folder);
  link(join(ROOT, "node_modules/@anthropic-ai/sdk"), join(folder, "node_modules/@anthropic-ai/sdk"));
  const program = readDocPrograms("README.md", readText("README.md")).find(({ name }) => name === "ask.ts");
  writeFileSync(join(folder, "ask.ts"), program?.text ?? "");
  const script = join(folder, "ask.mjs");
  await build({ entryPoints: [join(folder, "ask.ts")], outfile: script, format: "esm", logLevel: "silent" });

  await using server = await ProviderServer.start();
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: server.origin,
  };
  const ask = async (question: string, answer: string) => {
    server.script({ text: answer });
    const agent = new RunningAgent(script, folder, env, [question]);
    onTestFinished(() => agent.stop());
    await agent.hear(`${answer}\n`);
    expect([await agent.end(), agent.errors]).toEqual([0, ""]);
    return JSON.stringify(server.requests.at(-1)?.body);
  };
  await ask("Why is the build red?", "The lockfile is out of date.");
  const second = await ask("And how do I fix it?", "Run npm install.");
  expect(second).toContain("Why is the build red?");
  expect(second).toContain("The lockfile is out of date.");
  expect(second).toContain("And how do I fix it?");
  expect(server.faults).toEqual([]);
});

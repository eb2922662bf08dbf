import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { SessionManager } from "sessiontree";
import { searchSessions } from "sessiontree/catalog";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ProviderServer } from "../support/provider-server/provider-server.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { describeWith } from "../support/sdk.ts";
import { readDocPrograms } from "./support/doc-programs.ts";
import { ROOT, readText } from "./support/repository.ts";
import { install, link } from "./support/run-programs.ts";
import { RunningAgent } from "./support/running-agent.ts";

const PAGE = "docs/first-agent.md";
const files = readDocPrograms(PAGE, readText(PAGE)).filter(
  ({ name, isUnpacked }) => name !== undefined && isUnpacked !== true,
);

/** Files of the page that are programs, and the packages that they use. */
const AGENTS: readonly {
  readonly file: string;
  readonly packages: readonly string[];
  /** Packages of another version, by the names in the program, and the differences that the page documents. */
  readonly alias?: { readonly [name: string]: string };
  readonly changes?: readonly (readonly [string, string])[];
}[] = [
  { file: "with-anthropic.ts", packages: ["@anthropic-ai/sdk"] },
  { file: "with-openai.ts", packages: ["openai"] },
  { file: "with-ai-sdk.ts", packages: ["ai", "@ai-sdk/openai"] },
  {
    file: "with-ai-sdk.ts",
    packages: ["ai6", "ai-sdk-openai-3"],
    alias: { ai: "ai6", "@ai-sdk/openai": "ai-sdk-openai-3" },
    changes: [
      ["{ sdk: 7 }", "{ sdk: 6 }"],
      ["responseMessages: await result.responseMessages", "response: await result.response"],
    ],
  },
];

let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sessiontree-agent-"));
  await install(folder);
  for (const { name = "", text } of files) writeFileSync(join(folder, name), text);
});
afterAll(() => removeFolder(folder));

test("every program of the page is run", () => {
  const programs = files.map(({ name }) => name).filter((name) => name !== "agent.ts");
  expect(new Set(programs)).toEqual(new Set(AGENTS.map(({ file }) => file)));
});

test("the page documents the differences of another version", () => {
  const page = readText(PAGE);
  for (const text of AGENTS.flatMap(({ changes = [] }) => changes.flat()))
    expect(page).toContain(`\`${text}\``);
});

for (const { file, packages, alias = {}, changes = [] } of AGENTS) {
  const title = `the first agent, ${file} with ${packages.join(" and ")}`;
  describeWith(packages, title, () => {
    /** Creates a project with a file to read, and returns the command that starts the agent there. */
    async function project(server: ProviderServer): Promise<{ home: string; start: () => RunningAgent }> {
      for (const name of packages) {
        const place = join(folder, "node_modules", name);
        removeFolder(place);
        link(join(ROOT, "node_modules", name), place);
      }
      const home = mkdtempSync(join(folder, "project-"));
      writeFileSync(join(home, "notes.txt"), "The cart is empty on Mondays.");
      const script = join(home, "agent.mjs");
      const text = changes.reduce(
        (all, [from, to]) => all.replace(from, to),
        readFileSync(join(folder, file), "utf8"),
      );
      await build({
        stdin: { contents: text, resolveDir: folder, loader: "ts" },
        alias,
        outfile: script,
        bundle: true,
        format: "esm",
        platform: "node",
        packages: "external",
        logLevel: "silent",
      });
      const env = {
        PATH: process.env["PATH"],
        HOME: home,
        ANTHROPIC_API_KEY: "none",
        ANTHROPIC_BASE_URL: server.origin,
        OPENAI_API_KEY: "none",
        OPENAI_BASE_URL: `${server.origin}/v1`,
      };
      const start = () => {
        const agent = new RunningAgent(script, home, env);
        onTestFinished(() => agent.stop());
        return agent;
      };
      return { home, start };
    }

    const lastRequest = (server: ProviderServer) => JSON.stringify(server.requests.at(-1)?.body);

    test("answers, runs tools, branches, is interrupted, compacts, and continues after a restart", async () => {
      await using server = await ProviderServer.start();
      const { home, start } = await project(server);
      const agent = start();
      await agent.hear("1 entries so far.");

      server.script(
        { thinking: "A file.", calls: [{ name: "read_file", arguments: { path: "notes.txt" } }] },
        { text: "It is empty on Mondays." },
      );
      agent.say("What do the notes say?");
      await agent.hear("It is empty on Mondays.\n");
      expect(lastRequest(server)).toContain("The cart is empty on Mondays.");
      expect(lastRequest(server)).toContain("You help with this project.");

      server.script({ text: "I read files." });
      agent.say("/back");
      agent.say("What can you do?");
      await agent.hear("I read files.\n");
      expect(lastRequest(server)).not.toContain("Mondays");

      server.script({ text: "Once upon a time there was a cart.", hangsAfter: 6 });
      agent.say("Tell me a story.");
      await agent.hear("Once");
      agent.interrupt();
      server.script({ text: "I stopped." });
      agent.say("Are you there?");
      await agent.hear("I stopped.\n");
      expect(lastRequest(server)).not.toContain("Once");

      server.script({ text: "That is long." }, { text: "They pasted a log." }, { text: "As I said." });
      agent.say(`Look: ${"all work and no play ".repeat(5_000)}`);
      await agent.hear("That is long.\n");
      agent.say("/compact");
      agent.say("And?");
      await agent.hear("As I said.\n");
      expect(lastRequest(server)).toContain("They pasted a log.");
      expect(lastRequest(server)).not.toContain("What can you do?");
      expect(await agent.end()).toBe(0);
      expect(agent.errors).toBe("");

      const again = start();
      await again.hear("entries so far.");
      server.script({ text: "Still here." });
      again.say("Hello again.");
      await again.hear("Still here.\n");
      expect(lastRequest(server)).toContain("As I said.");
      expect(await again.end()).toBe(0);
      expect(server.faults).toEqual([]);

      const [name = ""] = readdirSync(join(home, "sessions"));
      const session = SessionManager.open(join(home, "sessions", name));
      expect(session.issues).toEqual([]);
      expect(session.getLeaves()).toHaveLength(2);
      const aborted = session.getEntries().filter((entry) => {
        return (
          entry.type === "message" &&
          entry.message.role === "assistant" &&
          entry.message.stopReason === "aborted"
        );
      });
      expect(JSON.stringify(aborted)).toContain("Once");
    });

    test("reports a provider's rejection, and continues", async () => {
      await using server = await ProviderServer.start();
      const { home, start } = await project(server);
      const agent = start();
      await agent.hear("entries so far.\n");
      agent.say("Anybody?");
      await agent.hear("\n");
      server.script({ text: "Yes." });
      agent.say("Anybody now?");
      await agent.hear("Yes.\n");
      expect(agent.errors).toContain("the script has no answer left");
      expect(lastRequest(server)).toContain("Anybody?");
      expect(lastRequest(server)).not.toContain("the script has no answer left");
      expect(await agent.end()).toBe(0);
      const hits = searchSessions("", { sessionDir: join(home, "sessions"), failed: true });
      const failures: string[] = [];
      for await (const { snippet } of hits) failures.push(snippet);
      expect(failures).toEqual([expect.stringContaining("the script has no answer left")]);
    });
  });
}

import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { type Fence, readFences } from "../contract/support/markdown.ts";
import { Project } from "./support/console.ts";

const PATH = new URL("../../docs/cli.md", import.meta.url);

/**
 * Set by `npm run update:cli-docs`, which writes what the examples give now into the document: to be looked at before it
 * is committed. A new example is a line `$ sessiontree …` in a block of the language `console`; each block runs in a
 * project of its own, and `$ echo $?` shows the exit code.
 */
const isUpdating = process.env["UPDATE_CLI_DOCS"] === "1";

const markdown = readFileSync(PATH, "utf8");
const blocks = readFences(markdown).filter(({ language }) => language === "console");

/** Gives the part of the document under the heading of a command; undefined if there is none. */
function sectionOf(name: string): string | undefined {
  const [, ...parts] = markdown.split(/^(?=#{1,6} )/m);
  return parts.find(
    (part) =>
      part
        .split("\n")[0]
        ?.replace(/^#+ |`/g, "")
        .trim() === name,
  );
}

describe("docs/cli.md", () => {
  test.each(COMMANDS.map(({ name }) => name))("has a section on %s with an example", (name) => {
    const section = sectionOf(name);
    expect(section, `docs/cli.md lacks the section "### ${name}"`).toBeDefined();
    const lines = readFences(section ?? "").flatMap(({ language, code }) =>
      language === "console" ? code.split("\n") : [],
    );
    const isExample = (line: string) => `${line} `.startsWith(`$ sessiontree ${name} `);
    expect(
      lines.some(isExample),
      `the section "### ${name}" lacks a block \`\`\`console with "$ sessiontree ${name} …"`,
    ).toBe(true);
  });

  test("has no section on a command that does not exist", () => {
    const [, commands = ""] = markdown.split(/^## The commands$/m);
    const named = [...commands.matchAll(/^### (.*)$/gm)].map(([, name]) => name);
    expect(named.filter((name) => !COMMANDS.some((command) => command.name === name))).toEqual([]);
  });
});

// What is deleted goes into the trash, and only on Linux is that one of the test.
describe.runIf(process.platform === "linux")("the examples of docs/cli.md", () => {
  const played = new Map<Fence, string>();

  test.each(blocks.map((block) => [block.line, block.code.split("\n")[0], block] as const))(
    "give what they say: line %i, %s",
    async (_line, _command, block) => {
      const now = await new Project().play(block.code);
      played.set(block, now);
      if (!isUpdating) expect(now).toBe(block.code);
    },
  );

  afterAll(() => {
    if (!isUpdating) return;
    const lines = markdown.split("\n");
    for (const [{ line, code }, now] of [...played].reverse()) {
      lines.splice(line - 1, code.split("\n").length, ...now.split("\n"));
    }
    writeFileSync(PATH, lines.join("\n"));
  });
});

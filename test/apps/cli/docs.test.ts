import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../../../src/apps/cli/commands.ts";
import { type Fence, readFences } from "../../contract/support/markdown.ts";
import { Project } from "./support/console.ts";

const FOLDER = new URL("../../../docs/", import.meta.url);

/** The pages on the command line: the first links to the others, one per group of commands. */
const PAGES = ["cli.md", ...readdirSync(new URL("cli/", FOLDER)).map((name) => `cli/${name}`)].sort();

/**
 * Set by `npm run update:cli-docs`, which writes the examples' current output into the documents: review it before you
 * commit it. A new example is a line `$ sessiontree …` in a block of the language `console`; each block runs in its own
 * project, and `$ echo $?` shows the exit code.
 */
const isUpdating = process.env["UPDATE_CLI_DOCS"] === "1";

const texts = new Map(PAGES.map((page) => [page, readFileSync(new URL(page, FOLDER), "utf8")]));
const blocks = [...texts].flatMap(([page, text]) =>
  readFences(text).flatMap((block) => (block.language === "console" ? [{ page, block }] : [])),
);

/** The sections of all pages except the first, with their headings. */
const sections = [...texts].flatMap(([page, text]) =>
  page === "cli.md" ? [] : text.split(/^(?=## )/m).slice(1),
);

/** Returns the documents' section under a command's heading; undefined if there is none. */
function sectionOf(name: string): string | undefined {
  return sections.find((section) => section.startsWith(`## ${name}\n`));
}

describe("docs/cli", () => {
  test.each(COMMANDS.map(({ name }) => name))("has a section on %s with an example", (name) => {
    const section = sectionOf(name);
    expect(section, `no page in docs/cli has the section "## ${name}"`).toBeDefined();
    const lines = readFences(section ?? "").flatMap(({ language, code }) =>
      language === "console" ? code.split("\n") : [],
    );
    const isExample = (line: string) => `${line} `.startsWith(`$ sessiontree ${name} `);
    expect(
      lines.some(isExample),
      `the section "## ${name}" lacks a block \`\`\`console with "$ sessiontree ${name} …"`,
    ).toBe(true);
  });

  test("has no section on a command that does not exist", () => {
    const named = sections.flatMap((section) => /^## ([a-z][\w ]*)\n/.exec(section)?.[1] ?? []);
    expect(named.filter((name) => !COMMANDS.some((command) => command.name === name))).toEqual([]);
  });

  test.each(COMMANDS.map(({ name }) => name))("%s is linked from docs/cli.md", (name) => {
    expect(texts.get("cli.md")).toMatch(
      new RegExp(`\\[${name}\\]\\(cli/[a-z-]+\\.md#${name.replace(" ", "-")}\\)`),
    );
  });
});

// Deletions use the trash, and only on Linux can the test replace it.
describe.runIf(process.platform === "linux")("the examples of docs/cli.md and docs/cli", () => {
  const played = new Map<Fence, string>();

  test.each(blocks.map(({ page, block }) => [page, block.line, block.code.split("\n")[0], block] as const))(
    "print the documented output: %s, line %i, %s",
    async (_page, _line, _command, block) => {
      const now = await new Project().play(block.code);
      played.set(block, now);
      if (!isUpdating) expect(now).toBe(block.code);
    },
  );

  afterAll(() => {
    if (!isUpdating) return;
    for (const [page, text] of texts) {
      const lines = text.split("\n");
      for (const { block } of blocks.filter((one) => one.page === page).reverse()) {
        const now = played.get(block) ?? block.code;
        lines.splice(block.line - 1, block.code.split("\n").length, ...now.split("\n"));
      }
      writeFileSync(new URL(page, FOLDER), lines.join("\n"));
    }
  });
});

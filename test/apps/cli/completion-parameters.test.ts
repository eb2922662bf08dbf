import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { COMMANDS } from "../../../src/apps/cli/commands.ts";

const PATH = new URL("../../../src/apps/cli/completion/parameters.json", import.meta.url);

/** Set by `npm run update:cli-docs`, which rewrites the file. */
const isUpdating = process.env["UPDATE_CLI_DOCS"] === "1";

test("completion has the parameters of every command (npm run update:cli-docs)", async () => {
  const commands = COMMANDS.map(async ({ name, load }) => {
    const { parameters } = await load();
    const known = parameters.map(({ form, description, values, isList }) => [
      form,
      values === undefined
        ? description
        : { description, values: values.join(" "), ...(isList && { isList }) },
    ]);
    return [name, Object.fromEntries(known)];
  });
  const text = `${JSON.stringify(Object.fromEntries(await Promise.all(commands)), null, 2)}\n`;
  if (isUpdating) writeFileSync(PATH, text);
  expect(readFileSync(PATH, "utf8")).toBe(text);
});

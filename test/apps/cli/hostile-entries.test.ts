import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT_CODES } from "../../../src/apps/cli/exit-codes.ts";
import { joinLines } from "../../interop/import/support/claude-records.ts";
import { makeRichSession } from "../../property/support/rich-session.ts";
import { replaceEachValue, takeTried, UNPRINTABLE_VALUES } from "../../support/hostile-values.ts";
import { cli, temporaryFolder } from "./support/cli.ts";

test("commands show a session, or say why they cannot, whatever value any field of its entries has", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "session.jsonl");
  const commands = [
    ["list", "--dir", folder],
    ["search", "hi", "--dir", folder],
    ["stats", path, "--json"],
    ["show", path],
    ["show", path, "--tail", "30"],
    ["tree", path, "--all"],
    ["context", path],
    ["verify", path, "--schema"],
    ["export", path, "--markdown"],
    ["export", path, "--html"],
  ];
  const settings = { cwd: folder, columns: 80, env: { HOME: folder, XDG_CACHE_HOME: join(folder, "cache") } };
  writeFileSync(path, joinLines(Object.values(makeRichSession())));
  for (const args of commands) expect((await cli(args, settings)).code, String(args)).toBe(EXIT_CODES.ok);
  for (const { place, document } of takeTried(replaceEachValue(makeRichSession(), UNPRINTABLE_VALUES), 19)) {
    writeFileSync(path, joinLines(Object.values(Object(document))));
    for (const args of commands) {
      const { code, stdout, stderr } = await cli(args, settings);
      const told = `${args[0]} if ${place}: ${stderr}`;
      expect([EXIT_CODES.ok, EXIT_CODES.failed], told).toContain(code);
      expect(stdout + stderr, told).not.toBe("");
      expect(stderr, told).not.toContain("(unexpected");
    }
  }
});

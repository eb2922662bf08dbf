import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { getKinship } from "../../../src/catalog/list/lineage.ts";
import { SUBAGENT_CUSTOM_TYPE } from "../../../src/core/format/import-origin.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("a session that names another one is its fork, or its subagent's session if one of the first entries says so", () => {
  const folder = temporaryFolder();
  const parentSession = "parent";
  const kinship = (name: string, ...entries: object[]) => {
    const path = join(folder, `${name}.jsonl`);
    const lines = [{ type: "session", version: 3, id: name, parentSession }, ...entries];
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return getKinship({ parentSession, path });
  };
  const mark = { type: "custom", customType: SUBAGENT_CUSTOM_TYPE, data: {} };
  const said = { type: "message", message: { role: "user", content: `about ${SUBAGENT_CUSTOM_TYPE}` } };
  expect(kinship("child", mark, said)).toBe("subagent");
  expect(kinship("fork", said)).toBe("fork");
  expect(kinship("caller", { ...mark, data: { sessionId: "child" } })).toBe("fork");
  expect(getKinship({ path: join(folder, "child.jsonl") })).toBe("");
  // A list does not end at a file that cannot be read.
  mkdirSync(join(folder, "folder.jsonl"));
  expect(getKinship({ parentSession, path: join(folder, "folder.jsonl") })).toBe("fork");
  expect(getKinship({ parentSession, path: join(folder, "gone.jsonl") })).toBe("fork");
});

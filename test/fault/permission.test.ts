import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { IS_WINE } from "../support/platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { bundle } from "./support/bundle.ts";
import { litter, names, place, sandbox } from "./support/sandbox.ts";
import { getTexts, onDisk, VERSION_1 } from "./support/sessions.ts";

/** Option by which this Node restricts a process, if there is one. */
const FLAG = ["--permission", "--experimental-permission"].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
);

describe.runIf(FLAG !== undefined && !IS_WINE)("a process that may not flush files", () => {
  test("appends, and reports the reduced durability once; a required flush is rejected by name", async () => {
    const folder = temporaryFolder();
    const program = join(folder, "permitted.mjs");
    await bundle("fault/support/permitted.ts", program);
    const sessions = join(sandbox(), "sessions");
    mkdirSync(sessions, { mode: 0o700 });
    const old = place(sessions, "old.jsonl", VERSION_1);
    const allowed = [
      `--allow-fs-read=${folder}`,
      `--allow-fs-read=${sessions}`,
      `--allow-fs-write=${sessions}`,
    ];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      FLAG ?? "",
      ...allowed,
      program,
      sessions,
      old,
    ]);
    expect(JSON.parse(stdout)).toEqual({
      plain: "appended, 2 in the list",
      withLease: "appended, 3 in the list",
      durable: expect.stringMatching(/^WRITE_FAILED: .*f\w+ API is disabled/),
      upgrade: expect.stringMatching(/^UPGRADE_FAILED: .*f\w+ API is disabled/),
    });
    expect(stderr.match(/SESSIONTREE_NOT_FLUSHED/g)).toHaveLength(1);
    const written = names(sessions).filter((name) => name !== "old.jsonl");
    expect(written).toHaveLength(2);
    for (const name of written)
      expect(getTexts(onDisk(join(sessions, name)).getEntries())).toEqual(["one", "two"]);
    expect(litter(sessions)).toEqual([]);
    expect(SessionManager.open(old).getEntryCount()).toBe(4);
  });
});

import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { FileLog } from "../../src/session/log/file-log.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { describeSessionLog } from "./session-log.ts";

const folder = mkdtempSync(join(tmpdir(), "sessiontree-conformance-"));
afterAll(() => removeFolder(folder));

let count = 0;

function open(path: string): FileLog {
  const log = FileLog.open(path);
  if (log === undefined) throw new Error(`${path} is missing or empty`);
  return log;
}

describeSessionLog("FileLog", (content) => {
  const path = join(folder, `${count++}.jsonl`);
  writeFileSync(path, content);
  return {
    log: open(path),
    bytes: () => readFileSync(path),
    reopen: () => open(path),
    writeForeign: (text) => appendFileSync(path, text),
  };
});

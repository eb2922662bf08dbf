import { MemoryLog } from "../../src/session/log/memory-log.ts";
import { describeSessionLog } from "./session-log.ts";

describeSessionLog("MemoryLog", (content) => {
  const log = new MemoryLog(content);
  return {
    log,
    bytes: () => log.bytes,
    reopen: () => new MemoryLog(Buffer.from(log.bytes).toString()),
  };
});

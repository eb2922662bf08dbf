import { MemoryBackend } from "../../src/stores/remote/memory-backend.ts";
import { RemoteLog } from "../../src/stores/remote/remote-log.ts";
import { describeSessionLog } from "./session-log.ts";

const over = (content: string | Uint8Array) => RemoteLog.begin(new MemoryBackend(), [content]);

describeSessionLog("RemoteLog", (content) => {
  const log = over(content);
  return { log, bytes: () => log.bytes, reopen: () => over(log.bytes) };
});

import { fileStore, remoteStore } from "sessiontree/stores";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { testDeletion } from "./support/deletion.ts";

testDeletion("files", () => {
  const sessionDir = temporaryFolder();
  const open = () => fileStore({ sessionDir, deletesForGood: true });
  return { ours: open(), theirs: open() };
});

testDeletion("memory", () => {
  const backend = new MemoryBackend();
  return { ours: remoteStore(backend), theirs: remoteStore(backend) };
});

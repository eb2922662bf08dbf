import { basename, dirname, join } from "node:path";
import { toAbsolutePath } from "../../../session/log/session-paths.ts";
import type { ImportedSession } from "../../import/imported-session.ts";
import { importKimi, readKimiText } from "../../import/kimi/import-kimi.ts";
import { findFirstFolder, getMember, toIsoTime } from "../../import/source-text.ts";
import { readSourcePieces, SideFiles } from "../source-file.ts";
import type { FileFacts, ReadOptions, SourceProgram, SourceSession } from "../source-program.ts";
import { makePathId } from "./named-files.ts";

/** Kimi Code wire logs, one for each agent in a session. */
export const KIMI: SourceProgram = {
  name: "kimi",
  folders: ({ KIMI_CODE_HOME: named }, home) => [
    join(named ? toAbsolutePath(named) : join(home, ".kimi-code"), "sessions"),
  ],
  filesBeside: (path) => (basename(path) === WIRE ? [getStateFile(path)] : []),
  readFacts,
  makeKey: ({ path }) => (basename(path) === WIRE ? dirname(getStateFile(path)) : path),
  read: readKimi,
};

/** Name of a log. Each log is in a folder named after the agent's id, inside the session's `agents` folder. */
const WIRE = "wire.jsonl";

const MAIN = "main";

/** Returns the path of the file with the state of the whole session. */
function getStateFile(path: string): string {
  return join(dirname(dirname(dirname(path))), "state.json");
}

function readFacts(text: string, path: string): FileFacts[] {
  const { records } = readKimiText(text);
  const isInPlace = basename(path) === WIRE && basename(dirname(dirname(path))) === "agents";
  const sessionId = isInPlace
    ? basename(dirname(getStateFile(path)))
    : makePathId(path, basename(path, ".jsonl"));
  const agentId = isInPlace ? basename(dirname(path)) : MAIN;
  const [first] = records;
  return [
    {
      source: "kimi",
      sessionId,
      ...(agentId !== MAIN && { agentId }),
      cwd: findFirstFolder(records.map(({ value }) => getMember(value, "environmentDisclosure")["cwd"])).cwd,
      startedAt: toIsoTime(first?.value["created_at"] ?? first?.value["time"]),
    },
  ];
}

function readKimi({ files, sourceId, cwd }: SourceSession, { importedAt }: ReadOptions): ImportedSession[] {
  const beside = new SideFiles();
  const [file] = files;
  const sessions = importKimi({
    sessionId: sourceId,
    wires: files.map(({ path, facts: { agentId = MAIN } }) => ({
      path,
      agentId,
      ...readKimiText(readSourcePieces(path)),
    })),
    state:
      file === undefined || basename(file.path) !== WIRE
        ? undefined
        : beside.getValue(getStateFile(file.path)),
    cwd,
    importedAt,
  });
  return sessions.map((one, i) => (i === 0 ? { ...one, issues: [...one.issues, ...beside.issues] } : one));
}

import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { parseRecord } from "../../../core/jsonl/decode.ts";
import { ifPresent } from "../../../session/fs/file-system.ts";
import { type ReportSkipped, readSourceAsText, reportInto } from "../source-file.ts";
import type { StoredSession } from "./opencode-facts.ts";

/** Tells whether a document is the file of a session of before version 1.2, whose messages are in other files. */
export function isSessionFile(document: unknown): document is JsonRecord {
  return isJsonRecord(document) && !isJsonRecord(document["info"]) && typeof document["id"] === "string";
}

/** Reads the messages of a session and their parts from their files; what cannot be read is left out, with an issue. */
export function readTree(path: string, info: JsonRecord): StoredSession {
  const issues: SessionIssue[] = [];
  const report = reportInto(issues);
  const messages = filesIn(messageFolder(path), report).flatMap((file) => {
    const message = recordIn(file, report);
    if (message === undefined) return [];
    const parts = filesIn(join(storageOf(path), "part", basename(file, ".json")), report);
    return [{ info: message, parts: parts.flatMap((part) => recordIn(part, report) ?? []) }];
  });
  return { document: { info, messages }, issues };
}

/** Reads the first message of a session, without its parts; empty if there is none, or it cannot be read. */
export function firstMessage(path: string): JsonRecord[] {
  const [file] = filesIn(messageFolder(path), () => undefined);
  const info = file === undefined ? undefined : recordIn(file, () => undefined);
  return info === undefined ? [] : [{ info }];
}

/** Returns the folder of all sessions, messages and parts, in which a session's file is two folders deep. */
function storageOf(path: string): string {
  return dirname(dirname(dirname(path)));
}

function messageFolder(path: string): string {
  return join(storageOf(path), "message", basename(path, ".json"));
}

/** Returns the files of a folder in the order in which they were made. */
function filesIn(folder: string, report: ReportSkipped): string[] {
  try {
    const names = ifPresent(() => readdirSync(folder)) ?? [];
    return names
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    report(folder, error);
    return [];
  }
}

function recordIn(path: string, report: ReportSkipped): JsonRecord | undefined {
  try {
    const record = parseRecord(readSourceAsText(path));
    if (record === undefined) report(path, new Error("it is no JSON object"));
    return record;
  } catch (error) {
    report(path, error);
    return undefined;
  }
}

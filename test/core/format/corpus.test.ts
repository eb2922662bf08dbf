import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { isJsonRecord, type JsonRecord } from "../../../src/core/format/json.ts";
import { type Validation, validateEntry, validateHeader } from "../../../src/core/format/validate.ts";

const CORPUS = fileURLToPath(new URL("../../../../shared/corpus/", import.meta.url));
const missing = !existsSync(CORPUS);
if (missing) console.info(`no session files of other programs at ${CORPUS}: not validated`);

const files = missing
  ? []
  : readdirSync(CORPUS, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".jsonl"))
      .sort();

function readRecords(name: string): JsonRecord[] {
  return readFileSync(`${CORPUS}${name}`, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        const value: unknown = JSON.parse(line);
        return isJsonRecord(value) ? [value] : [];
      } catch (error) {
        // Damaged lines are covered by another test.
        if (error instanceof SyntaxError) return [];
        throw error;
      }
    });
}

function judge(record: JsonRecord): Validation<unknown> {
  return record["type"] === "session" ? validateHeader(record) : validateEntry(record);
}

/** Returns an entry of version 1 with the fields that its migration adds. */
function stamped(entry: JsonRecord): JsonRecord {
  return { id: "00000000", parentId: null, ...entry };
}

function countEntries(name: string): { entries: number; strict: number; stamped: number } {
  const entries = readRecords(name).filter((record) => record["type"] !== "session");
  return {
    entries: entries.length,
    strict: entries.filter((entry) => validateEntry(entry).ok).length,
    stamped: entries.filter((entry) => validateEntry(stamped(entry)).ok).length,
  };
}

describe.skipIf(missing)("session files of other writers", () => {
  test.each(files)("%s: every record is validated, none is altered", (name) => {
    for (const record of readRecords(name)) {
      const before = JSON.stringify(record);
      const result = judge(record);
      if (result.ok) expect(result.value).toBe(record);
      else expect(result.problems.every((problem) => problem.length > 0)).toBe(true);
      expect(JSON.stringify(record)).toBe(before);
    }
  });

  test("match the types in most of their entries", () => {
    const total = { entries: 0, strict: 0, stamped: 0 };
    for (const name of files) {
      const count = countEntries(name);
      total.entries += count.entries;
      total.strict += count.strict;
      total.stamped += count.stamped;
    }
    console.info(
      `${total.strict} of ${total.entries} entries validate as they stand, ${total.stamped} once version 1 has its ids`,
    );
    expect(total.stamped).toBeGreaterThan(total.entries / 2);
  });

  test.each([
    ["kimchi/statsuline.jsonl"],
    ["pi-mono-html/v2-export-738aa34c.jsonl"],
    ["pi-mono-html/v2-export-b457b17b.jsonl"],
    ["fx-switchboard/pi-session.jsonl"],
  ])("%s validates entirely, as running agents write today", (name) => {
    const { entries, strict } = countEntries(name);
    expect(entries).toBeGreaterThan(0);
    expect(strict).toBe(entries);
  });

  test("version 1 validates once it has ids, except for the index of its compaction", () => {
    const { entries, strict, stamped } = countEntries("pi-mono/session-2025-12-17.jsonl");
    expect({ strict, failing: entries - stamped }).toEqual({ strict: 0, failing: 1 });
  });

  test("in the oldest file, only usage without a total fails", () => {
    const failing = readRecords("pi-mono/large-session.jsonl")
      .filter((record) => record["type"] !== "session")
      .flatMap((entry) => {
        const result = validateEntry(stamped(entry));
        return result.ok ? [] : result.problems;
      });
    expect(new Set(failing)).toEqual(new Set(["message.usage.totalTokens: missing, expected a number"]));
  });
});

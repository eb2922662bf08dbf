import { fieldsOf } from "../context/entry-fields.ts";
import { ifPresent } from "../fs/file-system.ts";
import { leftOut } from "../import/source-text.ts";
import { parseJson } from "../jsonl/decode.ts";
import { fileError } from "../log/file-errors.ts";
import type { SessionIssue } from "../schema/issue.ts";
import type { JsonRecord } from "../schema/json.ts";
import { type ReportSkipped, readSourceAsText } from "./source-file.ts";

/** Makes what adds files that cannot be read to the issues of a session. */
export function reportInto(issues: SessionIssue[]): ReportSkipped {
  return (path, error) => {
    issues.push(leftOut(fileError(path, "read", error).message));
  };
}

/** Reads files that programs keep beside their sessions, each once; reports those that cannot be read. */
export class SideFiles {
  readonly #report: ReportSkipped;
  readonly #texts = new Map<string, string>();

  constructor(report: ReportSkipped) {
    this.#report = report;
  }

  /** Returns the text of a file; empty if it is missing or cannot be read. */
  textOf(path: string): string {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    const text = this.#read(path);
    this.#texts.set(path, text);
    return text;
  }

  /** Returns the value in a JSON file; undefined if there is none. */
  valueOf(path: string): unknown {
    return parseJson(this.textOf(path))?.value;
  }

  /** Returns the fields of the object in a JSON file; none if there is no object. */
  jsonOf(path: string): JsonRecord {
    return fieldsOf(this.valueOf(path));
  }

  #read(path: string): string {
    try {
      return ifPresent(() => readSourceAsText(path)) ?? "";
    } catch (error) {
      this.#report(path, error);
      return "";
    }
  }
}

import { bytes } from "../../../core/facts/number-text.ts";
import { plainLine } from "../../../core/facts/plain-text.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import type { Output } from "../output.ts";
import { wrap } from "../text/width.ts";

/** Writes where in a file an issue is, and what it is. */
export function writeIssue({ line, offset, length, code, message }: SessionIssue, out: Output): void {
  out.line(`  line ${line}, offset ${offset}, ${bytes(length)}: ${out.colours.bold(code)}`);
  writeIndented(message, out);
}

/** Writes text, indented and wrapped. */
export function writeIndented(text: string, out: Output): void {
  for (const line of wrap(plainLine(text), out.width - 4)) out.line(`    ${line}`);
}

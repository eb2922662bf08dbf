import { formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import type { SessionHeader } from "../../../core/format/header.ts";
import { CURRENT_SESSION_VERSION } from "../../../core/format/version.ts";
import { type RepairReport, repairSession } from "../../../session/log/repair-session.ts";
import { SessionView } from "../../../session/manager/session-view.ts";
import type { Command } from "../command.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { changeSession, makeFileSession } from "../named-session.ts";
import type { Output } from "../output.ts";
import { argument, flag } from "../parameters.ts";
import { toIssueJson } from "../session-json.ts";
import { writeIndented, writeIssues } from "../view/facts.ts";

const SESSION = argument("<session>", "the session to repair");
const DRY_RUN = flag("--dry-run", "only print what would be done");

/** `sessiontree repair`: repairs a damaged file, and upgrades an older file to the current version. */
export const command: Command = {
  details: `Reports line by line what was wrong and what was done about it. No byte is lost: the original stays next to the file (.bak), and bytes that belong to no entry are moved to a separate file (.damaged). A file of an older version is rewritten in the current one, as the first append would do; its original is kept, too (.v1.bak, .v2.bak). A healthy file of the current version is not changed. With --dry-run, it exits with 1 if there is something to do.`,
  filesOnly:
    'A database keeps lines whole, and the first append upgrades an older session; "sessiontree db copy" copies one to a folder, where you can repair it.',
  parameters: [SESSION, DRY_RUN],
  examples: [
    ["repair session.jsonl --dry-run", "what is wrong, and what would be done about it"],
    ["repair session.jsonl", "do it"],
  ],
  run: async (call) => {
    const isDryRun = call.get(DRY_RUN);
    const report = repairSession(await call.findFile(call.get(SESSION)), { isDryRun });
    const { path, actions } = report;
    const { header, version } = readState(report, isDryRun);
    const isOld = version < CURRENT_SESSION_VERSION;
    const upgraded =
      isOld && !isDryRun
        ? await changeSession(makeFileSession(path, call.io), (one) => one.upgrade())
        : undefined;
    const backup = report.backup ?? upgraded;
    const result = { ...report, version, isOld, isDryRun, ...(backup !== undefined && { backup }) };
    if (call.json) call.out.json({ id: header?.id, ...toResultJson(result) });
    else writeResult(result, call.out);
    return isDryRun && (actions.length > 0 || isOld) ? EXIT_CODES.failed : EXIT_CODES.ok;
  },
};

/** Returns the header and version of a file after its repair or, for a dry run, as it is; a file without a header has neither. */
function readState(
  { path, actions }: RepairReport,
  isDryRun: boolean,
): { readonly header: SessionHeader | undefined; readonly version: number } {
  const isHeaderless = isDryRun && actions.some(({ issue }) => issue.code === "HEADER_MISSING");
  return isHeaderless ? { header: undefined, version: CURRENT_SESSION_VERSION } : SessionView.at(path);
}

interface RepairResult extends RepairReport {
  readonly isDryRun: boolean;
  /** Version before an upgrade. */
  readonly version: number;
  /** Whether the file was, or would be, upgraded. */
  readonly isOld: boolean;
}

function toResultJson({ actions, isOld, ...result }: RepairResult): object {
  const done = actions.map(({ issue, action }) => ({ issue: toIssueJson(issue), action }));
  return { ...result, actions: done, upgradesTo: isOld ? CURRENT_SESSION_VERSION : null };
}

function writeResult(result: RepairResult, out: Output): void {
  const { path, actions, backup, sideFile, version, isOld, isDryRun } = result;
  const { colors } = out;
  const paint = isDryRun ? colors.yellow : colors.green;
  if (actions.length === 0 && !isOld) {
    out.line(`${colors.green("OK")}  ${toPlainLine(path)}  (nothing to repair)`);
    return;
  }
  const number = isDryRun
    ? formatCounted(actions.length, "repair to make", "repairs to make")
    : formatCounted(actions.length, "repair");
  const upgrade = isDryRun ? "upgrade to make" : "upgraded";
  out.line(`${paint(actions.length > 0 ? number : upgrade)}  ${toPlainLine(path)}`);
  const issues = actions.map(({ issue }) => issue);
  writeIssues(issues, out, new Map(actions.map(({ issue, action }) => [issue, action])));
  if (isOld) writeIndented(`→ version ${version} becomes ${CURRENT_SESSION_VERSION}`, out);
  out.line();
  if (isDryRun) out.line("Nothing was changed. A repair keeps the original next to the new file.");
  else {
    out.line(`original   ${toPlainLine(backup ?? path)}`);
    out.line(`left over  ${sideFile === undefined ? "nothing" : toPlainLine(sideFile)}`);
  }
}

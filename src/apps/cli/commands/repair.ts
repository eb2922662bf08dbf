import { counted } from "../../../core/facts/number-text.ts";
import { plainLine } from "../../../core/facts/plain-text.ts";
import { type RepairReport, repairSession } from "../../../session/log/repair-session.ts";
import { SessionView } from "../../../session/manager/session-view.ts";
import type { Command } from "../command.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { argument, flag } from "../parameters.ts";
import { issueJson } from "../session-json.ts";
import { writeIndented, writeIssue } from "../view/issue-lines.ts";

const SESSION = argument("<session>", "the session to repair");
const DRY_RUN = flag("--dry-run", "only say what would be done");

/** `sessiontree repair`: makes a clean file of a damaged one. */
export const command: Command = {
  details: `Reports line by line what was wrong and what was done about it. No byte is lost: the original stays beside the file (.bak), and what belongs to no entry goes to a separate file (.damaged). A healthy file is left alone. With --dry-run it exits with 1 if there is something to repair.`,
  filesOnly:
    'A database keeps lines whole; "sessiontree copy" copies a session to a folder, where you can repair it.',
  parameters: [SESSION, DRY_RUN],
  examples: [
    ["repair session.jsonl --dry-run", "what is wrong, and what would be done about it"],
    ["repair session.jsonl", "do it"],
  ],
  run: async (call) => {
    const isDryRun = call.get(DRY_RUN);
    const report = repairSession(await call.findFile(call.get(SESSION)), { isDryRun });
    if (call.json) call.out.json(reportJson(report, isDryRun));
    else writeReport(report, isDryRun, call.out);
    return isDryRun && report.actions.length > 0 ? EXIT_CODES.failed : EXIT_CODES.ok;
  },
};

function reportJson({ path, actions, ...files }: RepairReport, isDryRun: boolean): object {
  const done = actions.map(({ issue, action }) => ({ issue: issueJson(issue), action }));
  return { id: SessionView.at(path).header?.id, path, actions: done, ...files, isDryRun };
}

function writeReport(
  { path, actions, backup, sideFile }: RepairReport,
  isDryRun: boolean,
  out: Output,
): void {
  const { colours } = out;
  if (actions.length === 0) {
    out.line(`${colours.green("OK")}  ${plainLine(path)}  (nothing to repair)`);
    return;
  }
  const number = counted(
    actions.length,
    isDryRun ? "repair to make" : "repair",
    isDryRun ? "repairs to make" : "repairs",
  );
  out.line(`${isDryRun ? colours.yellow(number) : colours.green(number)}  ${plainLine(path)}`);
  for (const { issue, action } of actions) {
    writeIssue(issue, out);
    writeIndented(`→ ${action}`, out);
  }
  out.line();
  if (isDryRun) out.line("Nothing was changed. A repair keeps the original beside the new file.");
  else {
    out.line(`original   ${plainLine(backup ?? path)}`);
    out.line(`left over  ${sideFile === undefined ? "nothing" : plainLine(sideFile)}`);
  }
}

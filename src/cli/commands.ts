import type { Command } from "./command.ts";
import { cloneCommand } from "./commands/clone.ts";
import { compactCommand } from "./commands/compact.ts";
import { makeCompletionCommand } from "./commands/completion.ts";
import { contextCommand } from "./commands/context.ts";
import { copyCommand } from "./commands/copy.ts";
import { diffCommand } from "./commands/diff.ts";
import { exportCommand } from "./commands/export.ts";
import { forkCommand } from "./commands/fork.ts";
import { importCommand } from "./commands/import.ts";
import { labelCommand } from "./commands/label.ts";
import { listCommand } from "./commands/list.ts";
import { mergeCommand } from "./commands/merge.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { nameCommand } from "./commands/name.ts";
import { pruneCommand } from "./commands/prune.ts";
import { redactCommand } from "./commands/redact.ts";
import { repairCommand } from "./commands/repair.ts";
import { restoreCommand } from "./commands/restore.ts";
import { resumeCommand } from "./commands/resume.ts";
import { rmCommand } from "./commands/rm.ts";
import { searchCommand } from "./commands/search.ts";
import { showCommand } from "./commands/show.ts";
import { statsCommand } from "./commands/stats.ts";
import { treeCommand } from "./commands/tree.ts";
import { upgradeCommand } from "./commands/upgrade.ts";
import { verifyCommand } from "./commands/verify.ts";
import { viewCommand } from "./commands/view.ts";
import { watchCommand } from "./commands/watch.ts";

/** All commands, in the order in which the help lists them: what looks first, then what writes. */
export const COMMANDS: readonly Command[] = [
  listCommand,
  resumeCommand,
  searchCommand,
  treeCommand,
  showCommand,
  viewCommand,
  contextCommand,
  diffCommand,
  statsCommand,
  watchCommand,
  verifyCommand,
  repairCommand,
  upgradeCommand,
  nameCommand,
  labelCommand,
  forkCommand,
  cloneCommand,
  exportCommand,
  copyCommand,
  importCommand,
  mergeCommand,
  compactCommand,
  redactCommand,
  rmCommand,
  restoreCommand,
  pruneCommand,
  migrateCommand,
  makeCompletionCommand(() => COMMANDS),
];

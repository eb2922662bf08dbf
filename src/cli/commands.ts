import type { Command } from "./command.ts";
import { compactCommand } from "./commands/compact.ts";
import { contextCommand } from "./commands/context.ts";
import { listCommand } from "./commands/list.ts";
import { redactCommand } from "./commands/redact.ts";
import { repairCommand } from "./commands/repair.ts";
import { searchCommand } from "./commands/search.ts";
import { showCommand } from "./commands/show.ts";
import { statsCommand } from "./commands/stats.ts";
import { treeCommand } from "./commands/tree.ts";
import { verifyCommand } from "./commands/verify.ts";

/** All commands, in the order in which the help lists them. */
export const COMMANDS: readonly Command[] = [
  listCommand,
  searchCommand,
  treeCommand,
  showCommand,
  contextCommand,
  statsCommand,
  verifyCommand,
  repairCommand,
  compactCommand,
  redactCommand,
];

import type { ListedCommand } from "./command.ts";

/**
 * All commands, in the order in which the help lists them: what looks first, then what writes.
 *
 * Each is loaded when it runs, so that starting one does not wait for what the others need.
 */
export const COMMANDS: readonly ListedCommand[] = [
  {
    name: "list",
    summary: "List sessions, latest first",
    load: async () => (await import("./commands/list.ts")).listCommand,
  },
  {
    name: "resume",
    summary: "Choose a session, and print its path or run a program with it",
    load: async () => (await import("./commands/resume.ts")).resumeCommand,
  },
  {
    name: "search",
    summary: "Find text or failures in sessions",
    load: async () => (await import("./commands/search.ts")).searchCommand,
  },
  {
    name: "tree",
    summary: "Draw the tree of a session",
    load: async () => (await import("./commands/tree.ts")).treeCommand,
  },
  {
    name: "show",
    summary: "Describe a session, or show entries in full",
    load: async () => (await import("./commands/show.ts")).showCommand,
  },
  {
    name: "view",
    summary: "Open a session, or a list of sessions, in the browser",
    load: async () => (await import("./commands/view.ts")).viewCommand,
  },
  {
    name: "context",
    summary: "Show what the model sees, or saw before an answer",
    load: async () => (await import("./commands/context.ts")).contextCommand,
  },
  {
    name: "diff",
    summary: "Compare two branches of a session",
    load: async () => (await import("./commands/diff.ts")).diffCommand,
  },
  {
    name: "stats",
    summary: "Count messages, tool calls, tokens and cost",
    load: async () => (await import("./commands/stats.ts")).statsCommand,
  },
  {
    name: "watch",
    summary: "Show entries as they are appended, until interrupted",
    load: async () => (await import("./commands/watch.ts")).watchCommand,
  },
  {
    name: "mcp",
    summary: "Answer agents that ask about past sessions, over MCP",
    load: async () => (await import("./commands/mcp.ts")).mcpCommand,
  },
  {
    name: "verify",
    summary: "Check every line of session files",
    load: async () => (await import("./commands/verify.ts")).verifyCommand,
  },
  {
    name: "repair",
    summary: "Repair a damaged session file",
    load: async () => (await import("./commands/repair.ts")).repairCommand,
  },
  {
    name: "upgrade",
    summary: "Rewrite an older session file in the current version",
    load: async () => (await import("./commands/upgrade.ts")).upgradeCommand,
  },
  {
    name: "name",
    summary: "Show or set the name of a session",
    load: async () => (await import("./commands/name.ts")).nameCommand,
  },
  {
    name: "label",
    summary: "Show or set the label of an entry",
    load: async () => (await import("./commands/label.ts")).labelCommand,
  },
  {
    name: "fork",
    summary: "Copy the path to an entry into a new session",
    load: async () => (await import("./commands/fork.ts")).forkCommand,
  },
  {
    name: "clone",
    summary: "Copy a session, to continue in the copy",
    load: async () => (await import("./commands/clone.ts")).cloneCommand,
  },
  {
    name: "export",
    summary: "Export a session as JSONL, Markdown, HTML or a drawing",
    load: async () => (await import("./commands/export.ts")).exportCommand,
  },
  {
    name: "copy",
    summary: "Copy sessions into a folder or a database, byte for byte",
    load: async () => (await import("./commands/copy.ts")).copyCommand,
  },
  {
    name: "import",
    summary: "Import sessions of Claude Code, Codex and other agents",
    load: async () => (await import("./commands/import.ts")).importCommand,
  },
  {
    name: "merge",
    summary: "Merge two copies of a session that were continued separately",
    load: async () => (await import("./commands/merge.ts")).mergeCommand,
  },
  {
    name: "compact",
    summary: "Shorten the context of a session, or explain how",
    load: async () => (await import("./commands/compact.ts")).compactCommand,
  },
  {
    name: "redact",
    summary: "Remove an entry's content, or a text, from sessions for good",
    load: async () => (await import("./commands/redact.ts")).redactCommand,
  },
  {
    name: "rm",
    summary: "Move sessions to the trash, or delete them for good",
    load: async () => (await import("./commands/rm.ts")).rmCommand,
  },
  {
    name: "restore",
    summary: "List the sessions in the trash, or restore one",
    load: async () => (await import("./commands/restore.ts")).restoreCommand,
  },
  {
    name: "prune",
    summary: "Move sessions to the trash that have not been used for a while",
    load: async () => (await import("./commands/prune.ts")).pruneCommand,
  },
  {
    name: "migrate",
    summary: "Create the tables in a database, or bring them up to date",
    load: async () => (await import("./commands/migrate.ts")).migrateCommand,
  },
  {
    name: "completion",
    summary: "Print a script that completes command lines",
    load: async () => (await import("./commands/completion.ts")).makeCompletionCommand(COMMANDS),
  },
];

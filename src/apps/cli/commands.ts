import type { Command, ListedCommand } from "./command.ts";

function listed(name: string, summary: string, load: () => Promise<{ command: Command }>): ListedCommand {
  return { name, summary, load: async () => (await load()).command };
}

/**
 * All commands, in the order in which the help lists them: what looks first, then what writes.
 *
 * Each is loaded when it runs, so that starting one does not wait for what the others need.
 */
export const COMMANDS: readonly ListedCommand[] = [
  listed("list", "List sessions, latest first", () => import("./commands/list.ts")),
  listed(
    "resume",
    "Choose a session, and print its path or run a program with it",
    () => import("./commands/resume.ts"),
  ),
  listed("search", "Find text or failures in sessions", () => import("./commands/search.ts")),
  listed("tree", "Draw the tree of a session", () => import("./commands/tree.ts")),
  listed("show", "Describe a session, or show entries in full", () => import("./commands/show.ts")),
  listed("view", "Open a session, or a list of sessions, in the browser", () => import("./commands/view.ts")),
  listed(
    "context",
    "Show what the model sees, or saw before an answer",
    () => import("./commands/context.ts"),
  ),
  listed("diff", "Compare two branches of a session", () => import("./commands/diff.ts")),
  listed("stats", "Count messages, tool calls, tokens and cost", () => import("./commands/stats.ts")),
  listed(
    "watch",
    "Show entries as they are appended, until interrupted",
    () => import("./commands/watch.ts"),
  ),
  listed("mcp", "Answer agents that ask about past sessions, over MCP", () => import("./commands/mcp.ts")),
  listed("verify", "Check every line of session files", () => import("./commands/verify.ts")),
  listed("repair", "Repair a damaged session file", () => import("./commands/repair.ts")),
  listed(
    "upgrade",
    "Rewrite an older session file in the current version",
    () => import("./commands/upgrade.ts"),
  ),
  listed("name", "Show or set the name of a session", () => import("./commands/name.ts")),
  listed("label", "Show or set the label of an entry", () => import("./commands/label.ts")),
  listed("fork", "Copy the path to an entry into a new session", () => import("./commands/fork.ts")),
  listed("clone", "Copy a session, to continue in the copy", () => import("./commands/clone.ts")),
  listed(
    "export",
    "Export a session as JSONL, Markdown, HTML or a drawing",
    () => import("./commands/export.ts"),
  ),
  listed(
    "copy",
    "Copy sessions into a folder or a database, byte for byte",
    () => import("./commands/copy.ts"),
  ),
  listed(
    "import",
    "Import sessions of Claude Code, Codex and other agents",
    () => import("./commands/import.ts"),
  ),
  listed(
    "merge",
    "Merge two copies of a session that were continued separately",
    () => import("./commands/merge.ts"),
  ),
  listed(
    "compact",
    "Shorten the context of a session, or explain how",
    () => import("./commands/compact.ts"),
  ),
  listed(
    "redact",
    "Remove an entry's content, or a text, from sessions for good",
    () => import("./commands/redact.ts"),
  ),
  listed("rm", "Move sessions to the trash, or delete them for good", () => import("./commands/rm.ts")),
  listed("restore", "List the sessions in the trash, or restore one", () => import("./commands/restore.ts")),
  listed(
    "prune",
    "Move sessions to the trash that have not been used for a while",
    () => import("./commands/prune.ts"),
  ),
  listed(
    "migrate",
    "Create the tables in a database, or bring them up to date",
    () => import("./commands/migrate.ts"),
  ),
  listed("completion", "Print a script that completes command lines", async () => {
    const { completionCommand } = await import("./commands/completion.ts");
    return { command: completionCommand(COMMANDS) };
  }),
];

import type { Command, ListedCommand } from "./command.ts";

/**
 * Loads the command from a file in commands/. Each command is loaded only when it runs, so that startup does not load the others.
 */
type Loader = () => Promise<{ command: Command }>;

/** Help headings, each with its commands; the eight commands for reading history come first. */
const GROUPS: readonly (readonly [
  heading: string,
  ...commands: (readonly [name: string, summary: string, load: Loader])[],
])[] = [
  [
    "Read history:",
    ["list", "List sessions, latest first", () => import("./commands/list.ts")],
    ["search", "Find text or failures in sessions", () => import("./commands/search.ts")],
    ["show", "Describe a session, or show entries in full", () => import("./commands/show.ts")],
    ["tree", "Draw the tree of a session, or follow its growth", () => import("./commands/tree.ts")],
    ["view", "Open a session, or a list of sessions, in the browser", () => import("./commands/view.ts")],
    ["stats", "Count messages, tool calls, tokens and cost", () => import("./commands/stats.ts")],
    [
      "import",
      "Import sessions from Claude Code, Codex and other agents",
      () => import("./commands/import.ts"),
    ],
    [
      "resume",
      "Choose a session, and print its path or run a program with it",
      () => import("./commands/resume.ts"),
    ],
  ],
  [
    "Look closer:",
    ["context", "Show what the model sees, or saw before an answer", () => import("./commands/context.ts")],
    ["diff", "Compare two branches of a session", () => import("./commands/diff.ts")],
    ["mcp", "Answer agents' questions about past sessions, over MCP", () => import("./commands/mcp.ts")],
    ["recall", "Add past sessions to what an agent sees, as a hook", () => import("./commands/recall.ts")],
  ],
  [
    "Change a session:",
    [
      "name",
      "Show or set the name of a session, or the label of an entry",
      () => import("./commands/name.ts"),
    ],
    ["fork", "Copy a branch, or all branches, into a new session", () => import("./commands/fork.ts")],
    [
      "merge",
      "Merge two copies of a session that were continued separately",
      () => import("./commands/merge.ts"),
    ],
    ["compact", "Shorten the context of a session, or explain how", () => import("./commands/compact.ts")],
    [
      "redact",
      "Permanently remove an entry's content, or a text, from sessions",
      () => import("./commands/redact.ts"),
    ],
  ],
  [
    "Move sessions:",
    [
      "export",
      "Export a session as JSONL, Markdown, HTML or a drawing",
      () => import("./commands/export.ts"),
    ],
    [
      "continue",
      "Continue a session in Claude Code, Codex and other agents",
      () => import("./commands/continue.ts"),
    ],
    [
      "db copy",
      "Copy sessions into a folder or a database, byte for byte",
      () => import("./commands/db-copy.ts"),
    ],
    [
      "db migrate",
      "Create the tables in a database, or bring them up to date",
      () => import("./commands/db-migrate.ts"),
    ],
  ],
  [
    "Check, repair, delete:",
    ["verify", "Check every line of session files", () => import("./commands/verify.ts")],
    ["repair", "Repair a damaged session file, or upgrade an old one", () => import("./commands/repair.ts")],
    ["rm", "Move sessions to the trash, or delete them permanently", () => import("./commands/rm.ts")],
    ["restore", "List the sessions in the trash, or restore one", () => import("./commands/restore.ts")],
    [
      "prune",
      "Move sessions that have not been used for a while to the trash",
      () => import("./commands/prune.ts"),
    ],
  ],
  [
    "Set up:",
    [
      "keep",
      "Keep what agents delete: import now, and add hooks for later",
      () => import("./commands/keep.ts"),
    ],
    [
      "completion",
      "Print a script that completes command lines",
      async () => {
        const { makeCompletionCommand: completionCommand } = await import("./commands/completion.ts");
        return { command: completionCommand(COMMANDS) };
      },
    ],
  ],
];

/** Commands for agents rather than people; the help does not list them. */
const RARE: ReadonlySet<string> = new Set(["recall"]);

/** All commands, in help order. */
export const COMMANDS: readonly ListedCommand[] = GROUPS.flatMap(([heading, ...commands]) =>
  commands.map(([name, summary, load]) => ({
    name,
    summary,
    heading,
    isRare: RARE.has(name),
    load: async () => (await load()).command,
  })),
);

/** Commands from earlier releases and their replacements. */
const REMOVED_COMMANDS: ReadonlyMap<string, string> = new Map([
  ["watch", "tree SESSION --follow"],
  ["clone", "fork SESSION"],
  ["upgrade", "repair SESSION"],
  ["label", "name SESSION ENTRY [LABEL]"],
  ["copy", "db copy SESSION... --to PLACE"],
  ["migrate", "db migrate"],
]);

/** Options from earlier releases and their replacements, by command and option. */
const REMOVED_OPTIONS: ReadonlyMap<string, string> = new Map([
  ["export --dot", "use --mermaid, or --html for a page"],
  ["view --force", "name a new file, or delete the old one first"],
  ["prune --keep-labelled", "use --keep-labeled"],
]);

/** Returns the replacement for a removed command or option on a command line; undefined if nothing was removed. */
export function findReplacement([command = "", ...words]: readonly string[]): string | undefined {
  const replacement = REMOVED_COMMANDS.get(command);
  if (replacement !== undefined) return `"${command}" was removed: use "sessiontree ${replacement}"`;
  const end = words.indexOf("--");
  for (const word of end === -1 ? words : words.slice(0, end)) {
    const [option = ""] = word.split("=");
    const advice = REMOVED_OPTIONS.get(`${command} ${option}`);
    if (advice !== undefined) return `${option} was removed: ${advice}`;
  }
  return undefined;
}

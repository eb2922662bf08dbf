import type { ContinuingAgent } from "./exported-session.ts";

/** Names of the tools that each program offers in addition to MCP tools. pi is absent, because it continues its own sessions. */
const OWN_TOOLS: Readonly<Record<Exclude<ContinuingAgent, "pi">, ReadonlySet<string>>> = {
  "claude-code": new Set([
    ...["Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "EnterPlanMode", "ExitPlanMode", "Glob"],
    ...["Grep", "KillShell", "LS", "MultiEdit", "NotebookEdit", "Read", "Skill", "SlashCommand", "Task"],
    ...["TaskCreate", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch"],
    ...["WebFetch", "WebSearch", "Write"],
  ]),
  codex: new Set([
    ...["apply_patch", "exec_command", "local_shell", "request_user_input", "shell", "shell_command"],
    ...["spawn_agent", "update_plan", "view_image", "wait_agent", "web_search", "write_stdin"],
  ]),
  gemini: new Set([
    ...["activate_skill", "ask_user", "glob", "google_web_search", "grep_search", "list_directory"],
    ...["read_file", "read_many_files", "replace", "run_shell_command", "save_memory"],
    ...["search_file_content", "web_fetch", "write_file", "write_todos"],
  ]),
  opencode: new Set([
    ...["apply_patch", "bash", "edit", "glob", "grep", "list", "lsp", "multiedit", "patch", "question"],
    ...["read", "skill", "task", "todoread", "todowrite", "webfetch", "websearch", "write"],
  ]),
};

/**
 * Lists the called tools that a program does not offer, sorted by name. MCP tools are excluded, because their servers may be
 * available.
 */
export function listForeignTools(
  agent: Exclude<ContinuingAgent, "pi">,
  names: Iterable<string>,
): readonly string[] {
  const foreign = [...new Set(names)].filter(
    (name) => !OWN_TOOLS[agent].has(name) && !name.startsWith("mcp__"),
  );
  return foreign.sort();
}

import type { AcpToolKind } from "./acp-types.ts";

/** Words in names of tools, by what such tools do. */
const WORDS: readonly (readonly [kind: AcpToolKind, words: readonly string[]])[] = [
  ["think", ["think", "todo", "todos", "plan", "task"]],
  ["fetch", ["web", "fetch", "http", "url", "browser", "download"]],
  ["execute", ["bash", "shell", "exec", "execute", "command", "run", "terminal", "process"]],
  ["delete", ["delete", "remove", "rm"]],
  ["move", ["move", "rename", "mv"]],
  ["search", ["search", "grep", "glob", "find", "ls", "list"]],
  ["edit", ["edit", "write", "patch", "replace", "create", "insert", "update", "append"]],
  ["read", ["read", "view", "cat", "open", "get", "show", "load"]],
];

const KINDS: ReadonlyMap<string, AcpToolKind> = new Map(
  WORDS.flatMap(([kind, words]) => words.map((word) => [word, kind] as const)),
);

/** Guesses from a tool's name what it does: by its first word that tells. */
export function kindOfTool(name: string): AcpToolKind {
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  const kinds = words.split(/[^a-z]+/).map((word) => KINDS.get(word));
  return kinds.find((kind) => kind !== undefined) ?? "other";
}

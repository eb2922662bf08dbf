type Json = { readonly [key: string]: unknown };

/** Query of the model; a subset of the options of a search. */
export interface ModelQuery {
  readonly query: string;
  readonly regex?: boolean;
  readonly caseSensitive?: boolean;
  readonly roles?: readonly string[];
  readonly tools?: readonly string[];
  readonly path?: string;
  readonly failed?: boolean;
  readonly since?: Date;
  readonly until?: Date;
  readonly branch?: "active" | "any";
}

const record = (value: unknown): Json => Object(value);
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(record) : []);

/** Returns all strings in a value, at any depth. */
function leaves(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [];
}

const getRole = (entry: Json): string =>
  entry["type"] === "message"
    ? String(record(entry["message"])["role"])
    : ({ custom_message: "custom", compaction: "compactionSummary", branch_summary: "branchSummary" }[
        String(entry["type"])
      ] ?? "");

const getBlocks = (entry: Json) => list(record(entry["message"])["content"] ?? entry["content"]);
const getCalls = (entry: Json) => getBlocks(entry).filter(({ type }) => type === "toolCall");
const callTexts = (call: Json) => [String(call["name"]), ...leaves(call["arguments"])];

function getTexts(entry: Json): string[] {
  const { content = entry["content"], command, output } = record(entry["message"]);
  const blocks = getBlocks(entry).flatMap(({ text, thinking }) => [text, thinking]);
  const all = [content, ...blocks, command, output, entry["summary"]];
  return [
    ...all.filter((text): text is string => typeof text === "string"),
    ...getCalls(entry).flatMap(callTexts),
  ];
}

/** Searches the lines of a session; returns the ids of the entries found, with the branch, in the order of the lines. */
export function naiveSearch(lines: readonly string[], wanted: ModelQuery): string[] {
  const [header = {}, ...entries] = lines.map((line) => record(JSON.parse(line)));
  const active = new Set<unknown>();
  for (let at = entries.at(-1); at !== undefined; at = entries.find(({ id }) => id === at?.["parentId"]))
    active.add(at["id"]);
  const { query, roles, since, until, failed = false, branch = "any" } = wanted;
  const names = wanted.tools?.map((name) => name.toLowerCase());
  const isOfNothing = names === undefined && wanted.path === undefined && !failed;
  if (query.trim() === "" && isOfNothing) return [];

  const isAbout = (name: string, args: unknown) =>
    (names?.includes(name.toLowerCase()) ?? true) &&
    (wanted.path === undefined ||
      findFiles(args).some((file) => isAt(file, wanted.path ?? "", header["cwd"])));
  const madeBefore = (entry: Json) => {
    const { toolCallId } = record(entry["message"]);
    const before = entries.slice(0, entries.indexOf(entry));
    return before.flatMap(getCalls).findLast(({ id }) => id === toolCallId);
  };
  /** Returns the texts of an entry that passes the filters. */
  const narrowed = (entry: Json): string[] | undefined => {
    const { role, toolName, command } = record(entry["message"]);
    const texts = getTexts(entry);
    if (names === undefined && wanted.path === undefined) return texts;
    if (role === "toolResult")
      return isAbout(String(toolName), madeBefore(entry)?.["arguments"]) ? texts : undefined;
    if (role === "bashExecution") return isAbout("", { command }) ? texts : undefined;
    const calls = getCalls(entry).filter((call) => isAbout(String(call["name"]), call["arguments"]));
    return calls.length === 0 ? undefined : calls.flatMap(callTexts);
  };
  const isHit = (entry: Json) => {
    const { role, isError, exitCode, toolName } = record(entry["message"]);
    const timeMs = Date.parse(String(entry["timestamp"]));
    if (getRole(entry) === "" || roles?.includes(getRole(entry)) === false) return false;
    if ((since && timeMs < since.getTime()) || (until && timeMs >= until.getTime())) return false;
    if (branch === "active" && !active.has(entry["id"])) return false;
    let texts = narrowed(entry);
    if (texts === undefined) return false;
    if (failed) {
      if (isError !== true && (role !== "bashExecution" || exitCode === 0)) return false;
      const args =
        role === "toolResult" ? [String(toolName), ...leaves(madeBefore(entry)?.["arguments"])] : [];
      texts = [...getTexts(entry), ...args];
    }
    return texts.some((text) => text !== "") && holds(texts, wanted);
  };
  return entries
    .filter(isHit)
    .map((entry) => `${entry["id"]} ${getRole(entry)} ${active.has(entry["id"]) ? "active" : "left"}`);
}

/** Returns whether every word and phrase is in one of the texts, or the expression matches one. */
function holds(
  texts: readonly string[],
  { query, regex = false, caseSensitive = false }: ModelQuery,
): boolean {
  const flags = caseSensitive ? "" : "i";
  if (regex) return query === "" || texts.some((text) => new RegExp(query, flags).test(text));
  const fold = (text: string) => (caseSensitive ? text : text.toLowerCase()).replace(/\s+/g, " ");
  const terms = Array.from(query.matchAll(/"([^"]*)"|\S+/g), ([word, phrase]) => fold(phrase ?? word).trim());
  return terms.every((term) => texts.some((text) => fold(text).includes(term)));
}

/** Returns the files that a call names: its path, and the words of its command. */
function findFiles(args: unknown): string[] {
  const { path, command } = record(args);
  return [path, ...String(command ?? "").split(" ")].filter(
    (one): one is string => typeof one === "string" && one !== "",
  );
}

function isAt(file: string, wanted: string, cwd: unknown): boolean {
  const whole = file.startsWith("/") ? file : `${String(cwd)}/${file}`;
  if (wanted.startsWith("/")) return `${whole}/`.startsWith(`${wanted}/`);
  return `${whole.replace(`${String(cwd)}/`, "/")}/`.includes(`/${wanted}/`);
}

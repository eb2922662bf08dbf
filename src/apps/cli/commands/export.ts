import { existsSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainJson, toPlainLine } from "../../../core/facts/plain-text.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import type { ExportedTrajectory } from "../../../interop/atif/export-atif.ts";
import { realFileSystem } from "../../../session/fs/file-system.ts";
import { assertFree, writeNewFile } from "../../../session/log/new-file.ts";
import { SessionView } from "../../../session/manager/session-view.ts";
import { RESULT_DETAILS } from "../../text/markdown.ts";
import type { Command, CommandCall } from "../command.ts";
import { makeTrajectory } from "../export/atif.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../export/formats.ts";
import type { AtifChoices, ExportSource } from "../export/source.ts";
import { findSubagents } from "../export/subagents.ts";
import type { NamedSession } from "../named-session.ts";
import { choiceOption, flag, optionalArgument, rare, textOption } from "../parameters.ts";
import { getScope, makeFilePath } from "../session-argument.ts";
import { UsageError } from "../usage-error.ts";

const SESSION = optionalArgument("[session]", "the session");
const LEAF = textOption(
  "--leaf <entry>",
  "end the branch at this entry instead of the leaf: an id or its beginning, or a label",
);
const FULL = flag("--full", "everything: all branches; in a drawing, every entry");
const IMAGES = rare(flag("--images", "embed images in the Markdown instead of a note"));
const RESULTS = choiceOption(
  "--results <how>",
  "tool results in the Markdown: none, folded and shortened, or full; default: folded",
  RESULT_DETAILS,
);
const CONTEXT = rare(
  flag("--context", "export what the model sees to the trajectory, instead of the whole branch"),
);
const LOSSLESS = rare(
  flag("--lossless", "embed the session in the trajectory, so that it can be restored byte for byte"),
);
const ASSETS = rare(textOption("--assets <folder>", "write images of the trajectory to this folder"));
const FILE = textOption("-o, --output <file>", "write to this new file instead of stdout");

/** `sessiontree export`: writes a session in another format. */
export const command: Command = {
  details: `Prints to stdout, or writes a new file. JSONL, Markdown, and ATIF hold the branch that ends at the leaf. In Markdown, tool results and long calls are folded and shortened; --results omits the results, or shows everything in full. The page and the drawing show the whole tree; the drawing joins entries in a straight line into one box unless --full is given.`,
  parameters: [
    SESSION,
    ...EXPORT_FORMATS.map(({ option }) => option),
    LEAF,
    FULL,
    RESULTS,
    IMAGES,
    CONTEXT,
    LOSSLESS,
    ASSETS,
    FILE,
  ],
  examples: [
    ["export @last --markdown | less", "a transcript of the active branch"],
    ["export @last --markdown notes.md --results none", "what was said and called, without results"],
    ["export @last --html page.html", "all branches as a page, to a new file"],
    ["export @last --jsonl branch.jsonl", "the branch as a session of the same id"],
    ["export session.jsonl --jsonl --full -o copy.jsonl", "the whole session"],
    ["export session.jsonl --markdown --leaf 1a2b3c4d -o notes.md", "another branch, to a file"],
    ["export @last --atif run.json --assets images", "a trajectory, with its images as files"],
    ["export session.jsonl --mermaid tree.mmd", "a drawing of the tree"],
  ],
  run: async (call) => {
    const { findSession, io, json, out } = call;
    const { format, file } = getFormat(call);
    const path = file === undefined ? undefined : makeFilePath(io.cwd, file);
    const folder = path === undefined ? io.cwd : dirname(path);
    const atif = getAtifChoices(call, format, folder);
    const named = await findSession(getSessionName(call, format));
    const subagents = format.name === "atif" ? await readSubagents(named, call) : [];
    const chosen = { ...(await readExportSource(named, format, call)), atif: { ...atif, subagents } };
    if (path !== undefined) assertFree(path, realFileSystem);
    const exported = format.name === "atif" ? makeTrajectory(chosen) : undefined;
    const source = { ...chosen, ...(exported !== undefined && { exported }) };
    if (exported !== undefined) writeAssets(folder, exported, call);
    if (path === undefined) writeOutput(call, format, source);
    else {
      writeNewFile({ path, pieces: format.render(source) });
      const entries = countEntries(path, format, source);
      if (json) out.json({ path, format: format.name, entryCount: entries });
      else out.line(`Wrote ${formatCounted(entries, "entry", "entries")} to ${toPlainLine(path)}`);
    }
  },
};

/** Returns the requested format and the output file, which is undefined for stdout. */
function getFormat({ get }: CommandCall): { format: ExportFormat; file: string | undefined } {
  const chosen = EXPORT_FORMATS.filter(({ option }) => Boolean(get(option)));
  const [format] = chosen;
  const all = EXPORT_FORMATS.map(({ name }) => `--${name}`).join(", ");
  if (format === undefined) throw new UsageError(`Choose a format: add one of ${all}.`);
  if (chosen.length > 1) throw new UsageError(`Choose one format of ${all}.`);
  const given = get(format.option);
  const output = get(FILE);
  if (typeof given === "string" && output !== undefined)
    throw new UsageError(`Name one file, after --${format.name} or -o.`);
  if (format.name !== "markdown" && get(RESULTS) !== undefined)
    throw new UsageError("--results requires --markdown; add that, or leave out --results.");
  return { format, file: output ?? (typeof given === "string" ? given : undefined) };
}

/** @throws {UsageError} If the session is missing, possibly because its name was parsed as the output file. */
function getSessionName({ get }: CommandCall, { name, option }: ExportFormat): string {
  const session = get(SESSION);
  if (session !== undefined) return session;
  const given = get(option);
  throw new UsageError(
    typeof given === "string"
      ? `Name the session first: "sessiontree export ${given} --${name}"; the file to write follows --${name}`
      : "Name the session to export, such as @last",
  );
}

/** @throws {UsageError} If the options do not apply to the format. */
function getAtifChoices({ get, io }: CommandCall, { name }: ExportFormat, folder: string): AtifChoices {
  const [isContext, isLossless, assets] = [get(CONTEXT), get(LOSSLESS), get(ASSETS)];
  if (name !== "atif" && (isContext || isLossless || assets !== undefined))
    throw new UsageError("--context, --lossless, and --assets require --atif; add that, or leave them out.");
  if (assets === undefined) return { isContext, isLossless };
  return { isContext, isLossless, assets: relative(folder, resolve(io.cwd, assets)).replaceAll(sep, "/") };
}

/** Reads subagents' sessions from the sessions folders and from the session's own folder. */
async function readSubagents({ path }: NamedSession, { dir, io }: CommandCall): Promise<SessionView[]> {
  if (path === undefined) return [];
  const scopes = [getScope({ io, dir }, true), { sessionDir: dirname(path) }];
  return (await findSubagents(path, scopes)).map((subagent) => SessionView.at(subagent));
}

/** Writes the images of a trajectory to files named after their content, unless they already exist. Warns of losses. */
function writeAssets(folder: string, { assets, issues }: ExportedTrajectory, { warn }: CommandCall): void {
  for (const { path, bytes } of assets) {
    const target = resolve(folder, path);
    if (!existsSync(target)) writeNewFile({ path: target, pieces: [bytes] });
  }
  for (const [message, all] of groupBy(issues, (issue) => issue.message))
    warn(`${message}${all.length === 1 ? "" : ` (${all.length} times)`}`);
}

async function readExportSource(
  named: NamedSession,
  format: ExportFormat,
  { get }: CommandCall,
): Promise<ExportSource> {
  const [leaf, isFull] = [get(LEAF), get(FULL)];
  if (leaf !== undefined && (format.isWhole || (format.name === "jsonl" && isFull))) {
    throw new UsageError("This exports all branches; leave out --leaf.");
  }
  const session = await named.read();
  return {
    session,
    leaf: leaf === undefined ? session.leaf : session.tree.find(session.findEntry(leaf)),
    isFull,
    withImages: get(IMAGES),
    results: get(RESULTS) ?? "folded",
  };
}

function writeOutput({ io, json, out }: CommandCall, format: ExportFormat, source: ExportSource): void {
  const isJson = format.name === "jsonl";
  const texts = decodePieces(format.render(source));
  if (json && !isJson) {
    out.json({ format: format.name, text: [...texts].join("") });
    return;
  }
  // On a terminal, the lines of a session must not contain control sequences; in a pipe, they are unchanged.
  for (const text of texts) out.text(isJson && io.stdout.isTTY ? toPlainJson(text) : text);
}

function* decodePieces(pieces: Iterable<string | Uint8Array>): Generator<string, void> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (const piece of pieces) yield typeof piece === "string" ? piece : decoder.decode(piece);
}

function countEntries(
  path: string,
  { name, isWhole }: ExportFormat,
  { session, leaf }: ExportSource,
): number {
  if (name === "jsonl") return SessionView.at(path).tree.size;
  return isWhole ? session.tree.size : session.tree.path(leaf).length;
}

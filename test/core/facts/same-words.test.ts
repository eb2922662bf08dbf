import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { makeTreeGraph } from "../../../src/apps/cli/export/graph.ts";
import { getPathTo, type SessionModel } from "../../../src/apps/page/model/session-model.ts";
import { chooseForDetail, makePageTreeRows } from "../../../src/apps/page/model/tree-rows.ts";
import { getEntryTitle, readKinds } from "../../../src/apps/text/entry-kind.ts";
import { formatImage, formatJson } from "../../../src/apps/text/stored-values.ts";
import { findTrunk } from "../../../src/apps/text/tree-rows.ts";
import { type ContentPart, getEntryContent } from "../../../src/core/facts/entry-content.ts";
import { formatToolCall, getExcerpt } from "../../../src/core/facts/excerpt.ts";
import { toPlainLine, toPlainText } from "../../../src/core/facts/plain-text.ts";
import { SessionView } from "../../../src/session/manager/session-view.ts";
import { cli, jsonLines } from "../../apps/cli/support/cli.ts";
import { getEntries, modelOfText } from "../../apps/page/support/session.ts";

const FIXTURES = "fixtures";
/** Sessions of real programs, which a developer may have next to this folder. */
const CORPUS = "../shared/corpus";
const MAX_BYTES = 400_000;

function sessionsIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).size < MAX_BYTES)
      .sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** Command-line output of an entry. */
interface Printed {
  readonly id: string;
  readonly kind: string;
  readonly excerpt: string;
  readonly failed?: boolean;
  readonly label?: string;
  readonly isLeaf: boolean;
}

test.each([...sessionsIn(FIXTURES), ...sessionsIn(CORPUS)])(
  "command line, page, and drawing describe %s in the same words",
  async (path) => {
    const model = modelOfText(readFileSync(path));
    const result = await cli(["tree", resolve(path), "--json"]);
    if (result.code !== 0) return expect(model.header).toBeUndefined();
    const printed = result.stdout === "" ? [] : (jsonLines(result) as Printed[]);
    expect(
      printed.map(({ id, kind, failed = false, label, isLeaf }) => [id, kind, failed, label, isLeaf]),
    ).toEqual(
      getEntries(model).map(({ id }, ordinal) => [
        id,
        model.kinds[ordinal]?.word,
        model.failures.includes(ordinal),
        model.labels.get(ordinal),
        ordinal === model.leaf,
      ]),
    );
    const excerpts = printed.map(({ excerpt }) => excerpt);
    expect(getEntries(model).map((entry) => getExcerpt(entry).text)).toEqual(excerpts);
    // The page names results and commands by the call; the outcome is next to it.
    model.kinds.forEach(({ tone }, ordinal) => {
      if (tone !== "tool" && tone !== "command")
        expect(getEntryTitle(model, ordinal)).toBe(excerpts[ordinal]);
    });
    await expectSameContent(path, model);
    expectSameDrawing(path, model);
    expect(model.failures).toHaveLength(readKinds(SessionView.at(path)).failures.size);
  },
);

/** Checks that the page shows the same content of each entry as `show` and the transcript. */
async function expectSameContent(path: string, model: SessionModel): Promise<void> {
  const max = String(Math.max(1, model.size));
  const shown = (await cli(["show", resolve(path), "--tail", max])).stdout;
  const transcript = (await cli(["export", resolve(path), "--markdown", "--results", "full"])).stdout;
  for (const ordinal of getPathTo(model, model.leaf)) {
    const entry = model.entryAt(ordinal);
    const { parts } = getEntryContent(entry);
    for (const part of parts.filter(({ kind }) => kind !== "image"))
      expect(shown, `${entry?.id} ${part.kind}`).toContain(toPlainText(wordsOf(part)));
    if (entry?.type !== "message") continue;
    for (const part of parts.filter(isVerbatim)) {
      const isHeld = (line: string) =>
        [toPlainText(line), toPlainLine(line), JSON.stringify(line).slice(1, -1)].some((form) =>
          transcript.includes(form),
        );
      const texts =
        part.kind === "call" ? listStrings(part.input).flatMap((text) => text.split("\n")) : [wordsOf(part)];
      expect(
        texts.filter((text) => !isHeld(text)),
        `${entry.id} ${part.kind}`,
      ).toEqual([]);
    }
  }
}

/** All strings in a value. */
function listStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(listStrings) : [];
}

/** Returns the words that all outputs use for a part. */
function wordsOf(part: ContentPart): string {
  if (part.kind === "call") return formatJson(part.input);
  if (part.kind === "data") return typeof part.value === "string" ? part.value : formatJson(part.value);
  if (part.kind === "thinking" && part.isRedacted) return "(withheld)";
  return part.kind === "image" ? formatImage(part) : part.text;
}

/** Returns whether a transcript holds a part as it was written, not as Markdown. */
function isVerbatim({ kind }: ContentPart): boolean {
  return kind === "output" || kind === "call";
}

/** Checks that entries with a row on the page have a box in the drawing, and that the others share boxes. */
function expectSameDrawing(path: string, model: SessionModel): void {
  const session = SessionView.at(path);
  const { nodes } = makeTreeGraph({
    session,
    leaf: session.leaf,
    isFull: false,
    withImages: false,
    results: "full",
  });
  const boxes = [...nodes];
  const trunk = findTrunk(model.tree, model.leaf);
  const rows = makePageTreeRows(model, trunk, chooseForDetail(model, trunk, "branches"), new Set(), true);
  const names = (isRun: boolean) =>
    boxes.flatMap(({ name, tone }) => ((tone === "run") === isRun ? name : [])).sort();
  expect(rows.map(({ ordinal }) => `n${ordinal}`).sort()).toEqual(names(false));
  expect(rows.flatMap(({ run: [first] }) => (first === undefined ? [] : `n${first}`)).sort()).toEqual(
    names(true),
  );
}

test("a call is described in the same words, whatever its argument is named", () => {
  for (const name of ["command", "cmd", "filePath", "prompt"])
    expect(formatToolCall("shell", { [name]: "npm test" })).toBe("→ shell npm test");
});

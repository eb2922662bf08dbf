import { describe, expect, test } from "vitest";
import { cli, temporaryFolder } from "../support/cli.ts";
import { Scribe } from "../support/sessions.ts";

const HOSTILE = [
  'a"]; n0 --> n1; x["b',
  '\\" ]; evil [label="x',
  "%%{init: {}}%% end subgraph &quot; #quot; `md` <script>alert(1)</script>",
  "style a:#fff; classDef b:#000;",
  "\u001b[2J\u202e\n\nnext -> line; \\N &amp; \\",
];

/** A node or an edge of the drawing; anything else is an error. */
interface Drawing {
  readonly nodes: Map<string, string>;
  readonly edges: [string, string][];
}

/** Parses the part of Mermaid's flowchart syntax that we write. */
function readMermaid(text: string): Drawing {
  const [first, ...lines] = text.trimEnd().split("\n");
  expect(first).toBe("flowchart TD");
  const drawing: Drawing = { nodes: new Map(), edges: [] };
  const label = String.raw`"((?:[\p{L}\p{N} ,._-]|#\d+;|<br/>)*)"`;
  const node = new RegExp(String.raw`^ {2}(n\d+)(?:\[${label}\]|\(\[${label}\]\)):::[a-z]+$`, "u");
  for (const line of lines) {
    const [, name, square, round] = node.exec(line) ?? [];
    const [, from, to] = /^ {2}(n\d+) --> (n\d+)$/.exec(line) ?? [];
    if (name !== undefined) {
      const shown = (square ?? round ?? "").replaceAll("<br/>", "\n");
      const character = (_: string, number: string) => String.fromCodePoint(Number(number));
      drawing.nodes.set(name, shown.replace(/#(\d+);/g, character));
    } else if (from !== undefined && to !== undefined) drawing.edges.push([from, to]);
    else expect(line).toMatch(/^ {2}classDef [a-z]+ [a-z0-9#:,-]+$/);
  }
  return drawing;
}

describe("--mermaid", () => {
  const draw = async (path: string, ...more: string[]) => {
    const { code, stdout, stderr } = await cli(["export", path, "--mermaid", ...more]);
    expect([code, stderr]).toEqual([0, ""]);
    return readMermaid(stdout);
  };

  test("shows every entry and its parent with --full", async () => {
    const scribe = new Scribe(temporaryFolder());
    const root = scribe.user("start");
    const left = scribe.assistant("left");
    scribe.session.branch(root);
    const right = scribe.assistant("right");
    const { nodes, edges } = await draw(scribe.path, "--full");
    expect([...nodes]).toEqual([
      ["n0", `user ${root}\nstart`],
      ["n1", `assistant ${left}\nleft`],
      ["n2", `assistant ${right}\nright`],
    ]);
    expect(edges).toEqual([
      ["n0", "n1"],
      ["n0", "n2"],
    ]);
  });

  test("puts straight runs into one box, except entries that readers look for", async () => {
    const scribe = new Scribe(temporaryFolder());
    const root = scribe.user("start");
    scribe.work(50);
    const marked = scribe.user("marked");
    scribe.session.appendLabelChange(marked, "here");
    scribe.work(50);
    scribe.session.appendCompaction("short", marked, 10);
    scribe.work(1);
    scribe.session.branch(root);
    scribe.user("other");
    const { nodes, edges } = await draw(scribe.path);
    const texts = [...nodes.values()];
    expect(nodes.size).toBeLessThan(16);
    expect(edges).toHaveLength(nodes.size - 1);
    expect(texts.filter((text) => /^99 entries: 49 assistant, 50 tool results$/.test(text))).toHaveLength(1);
    for (const kept of [/\[here\]\nmarked$/, /^compaction /, /\nstart$/, /\nother$/])
      expect(texts.filter((text) => kept.test(text))).toHaveLength(1);
    // The parent of each box except the first is an existing box.
    const names = [...nodes.keys()];
    expect(edges.map(([, to]) => to).sort()).toEqual(names.slice(1).sort());
    for (const [from] of edges) expect(names).toContain(from);
  });

  test("is a valid drawing for any content", async () => {
    const scribe = new Scribe(temporaryFolder());
    for (const text of HOSTILE) {
      const id = scribe.user(text);
      scribe.session.appendLabelChange(id, text);
    }
    scribe.session.appendSessionInfo(HOSTILE.join(" "));
    const { nodes, edges } = await draw(scribe.path, "--full");
    expect(nodes.size).toBe(2 * HOSTILE.length + 1);
    expect(edges).toHaveLength(nodes.size - 1);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for control characters
    expect([...nodes.values()].join("")).not.toMatch(/[\u0000-\u0009\u001b\u202e]/);
    expect([...nodes.values()].join("\n")).toContain('a"]; n0 --> n1; x["b');
  });

  test("draws a session without entries, and a line of 20,000", async () => {
    const empty = new Scribe(temporaryFolder());
    empty.session.branch(empty.user("x"));
    const long = new Scribe(temporaryFolder());
    long.work(10_000);
    expect((await draw(empty.path)).nodes.size).toBe(1);
    const { nodes } = await draw(long.path);
    expect(nodes.size).toBe(3);
  });
});

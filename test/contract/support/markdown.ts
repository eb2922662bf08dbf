/** Fenced block of a document. */
export interface Fence {
  /** First word after the fence, such as `ts`; "" if there is none. */
  readonly language: string;
  /** Further words after the fence. */
  readonly flags: readonly string[];
  /** 1-based line of the first line of code. */
  readonly line: number;
  readonly code: string;
}

/** Line of a document outside of fenced blocks. */
interface ProseLine {
  readonly line: number;
  readonly text: string;
}

/** Splits a document into fenced blocks and the lines between them. */
function split(markdown: string): { fences: Fence[]; prose: ProseLine[] } {
  const fences: Fence[] = [];
  const prose: ProseLine[] = [];
  let open: { mark: string; indent: number; info: string[]; line: number; code: string[] } | undefined;
  for (const [index, text] of markdown.split(/\r?\n/).entries()) {
    const [, space = "", mark, info = ""] = /^(\s*)(`{3,}|~{3,})\s*(.*)$/.exec(text) ?? [];
    if (open === undefined) {
      if (mark === undefined) prose.push({ line: index + 1, text });
      else open = { mark, indent: space.length, info: info.split(/\s+/), line: index + 2, code: [] };
    } else if (mark?.startsWith(open.mark) && info === "") {
      const [language = "", ...flags] = open.info;
      fences.push({ language, flags, line: open.line, code: open.code.join("\n") });
      open = undefined;
    } else {
      open.code.push(text.slice(Math.min(open.indent, text.length - text.trimStart().length)));
    }
  }
  if (open !== undefined) throw new Error(`The fenced block before line ${open.line} is never closed.`);
  return { fences, prose };
}

/** Lists the lines of a document outside of fenced blocks. */
export function readProse(markdown: string): readonly ProseLine[] {
  return split(markdown).prose;
}

/** Lists the fenced blocks of a document in order. */
export function readFences(markdown: string): Fence[] {
  return split(markdown).fences;
}

/** Lists the texts of a document's headings in order, without backticks, emphasis, and link targets. */
export function readHeadings(markdown: string): string[] {
  return split(markdown).prose.flatMap(({ text }) => {
    const [, heading] = /^#{1,6}\s+(.*?)\s*#*$/.exec(text) ?? [];
    return heading === undefined
      ? []
      : [heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "")];
  });
}

/** Returns the anchors of a document's headings as GitHub and npm generate them, and explicit ones. */
export function readAnchors(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  for (const heading of readHeadings(markdown)) {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  for (const [, id = ""] of markdown.matchAll(/<a id="([^"]+)"><\/a>/g)) anchors.add(id);
  return anchors;
}

const LINK = /\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|^\s*\[[^\]]+\]:\s+(\S+)|\b(?:href|src)="([^"]+)"/g;

/** Lists the targets of a document's links and images, as written, with their lines. */
export function readLinks(markdown: string): { line: number; target: string }[] {
  return split(markdown).prose.flatMap(({ line, text }) =>
    [...text.replace(/`[^`]*`/g, "").matchAll(LINK)].flatMap(([, inline, reference, html]) => {
      const target = inline ?? reference ?? html;
      return target === undefined ? [] : [{ line, target }];
    }),
  );
}

/** Lists a document's inline code, as written between the backticks, with its lines. */
export function readCodeSpans(markdown: string): { line: number; code: string }[] {
  return split(markdown).prose.flatMap(({ line, text }) =>
    [...text.matchAll(/`([^`]+)`/g)].flatMap(([, code]) => (code === undefined ? [] : [{ line, code }])),
  );
}

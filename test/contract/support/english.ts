import ts from "typescript";
import { ENGLISH_RULES, type EnglishRule, type TextPlace } from "./english-rules.ts";
import { readProse } from "./markdown.ts";
import { parse, visit } from "./syntax.ts";

/** A text of a file. */
interface PlacedText {
  readonly place: TextPlace;
  /** 1-based line on which it begins. */
  readonly line: number;
  readonly text: string;
}

/** A use of words that are not idiomatic. */
export interface EnglishFault {
  /** As `path:line`. */
  readonly at: string;
  readonly words: string;
  readonly instead: string;
  /** Line of the text, trimmed. */
  readonly text: string;
}

/** Finds the words of a source file or a document that a rule replaces. */
export function findEnglishFaults(path: string, text: string): EnglishFault[] {
  const texts = path.endsWith(".md") ? readDocument(text) : readSource(path, text);
  return texts.flatMap((one) => findInText(path, one));
}

function findInText(path: string, { place, line, text }: PlacedText): EnglishFault[] {
  return text.split("\n").flatMap((own, index) => {
    const bare = withoutCode(own);
    return ENGLISH_RULES.filter((rule) => isMeant(rule, place)).flatMap(({ words, instead }) => {
      const [found] = words.exec(bare) ?? [];
      return found === undefined
        ? []
        : [{ at: `${path}:${line + index}`, words: found, instead, text: own.trim() }];
    });
  });
}

function isMeant({ places }: EnglishRule, place: TextPlace): boolean {
  return places === undefined ? place !== "opening" : places.includes(place);
}

/** Removes code, addresses, and quoted words. */
function withoutCode(line: string): string {
  return line
    .replace(/`[^`]*`/g, "`code`")
    .replace(/\]\([^)]*\)/g, "]")
    .replace(/https?:\S+/g, "");
}

function readDocument(text: string): PlacedText[] {
  return readProse(text).map(({ line, text: prose }) => ({ place: "prose", line, text: prose }));
}

/** A message has several words, and no other marks than those of a sentence. */
const SENTENCE = /[a-z]{2,} [a-z]+ [a-z]+/i;

function readSource(path: string, text: string): PlacedText[] {
  const source = parse(path, text);
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  const texts: PlacedText[] = [];
  const seen = new Set<number>();
  const addComments = (ranges: readonly ts.CommentRange[] = []) => {
    for (const { pos, end } of ranges) {
      if (seen.has(pos)) continue;
      seen.add(pos);
      const comment = text.slice(pos, end);
      texts.push({ place: "comment", line: lineAt(pos), text: comment });
      const opening = /^\/\*\*[\s*]*/.exec(comment)?.[0];
      if (opening !== undefined)
        texts.push({
          place: "opening",
          line: lineAt(pos + opening.length),
          text: comment.slice(opening.length).split("\n", 1).join(""),
        });
    }
  };
  visit(source, (node) => {
    addComments(ts.getLeadingCommentRanges(text, node.getFullStart()));
    addComments(ts.getTrailingCommentRanges(text, node.getEnd()));
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node);
    if (!isText || !SENTENCE.test(node.text)) return;
    texts.push({ place: "string", line: lineAt(node.getStart(source)), text: node.text });
  });
  return texts;
}

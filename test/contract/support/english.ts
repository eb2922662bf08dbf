import ts from "typescript";
import { ENGLISH_RULES, type EnglishRule, type TextPlace } from "./english-rules.ts";
import { readProse } from "./markdown.ts";
import { parse, visit } from "./syntax.ts";

/** Text of a file. */
interface PlacedText {
  readonly place: TextPlace;
  /** 1-based line on which it begins. */
  readonly line: number;
  readonly text: string;
}

/** A match of a rule. */
export interface EnglishFault {
  /** As `path:line`. */
  readonly at: string;
  readonly words: string;
  readonly instead: string;
  /** Line that contains the words, trimmed. */
  readonly text: string;
}

/**
 * Finds the words of a source file or a document that a rule replaces.
 *
 * @param path - Path from the checkout's folder. In `test/`, only comments and titles are checked: other strings are data.
 */
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

/** Matches messages: strings of at least three words. */
const SENTENCE = /[a-z]{2,} [a-z]+ [a-z]+/i;

/** Functions that take a title first: those of Vitest, and ours around them, such as `describeSessionLog`. */
const TITLED = /^(?:test|it|describe)(?![a-z])/;

/** Returns the title of a test or a group of tests; undefined for every other call. */
function getTitle(node: ts.Node): ts.Expression | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  let callee: ts.Node = node.expression;
  while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) callee = callee.expression;
  return ts.isIdentifier(callee) && TITLED.test(callee.text) ? node.arguments[0] : undefined;
}

function isText(node: ts.Node): node is ts.LiteralLikeNode {
  return ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node);
}

/** Lists the parts of a title that are written out; none of a condition or a table. */
function listTitleParts(title: ts.Expression): ts.Node[] {
  if (isText(title)) return [title];
  if (ts.isTemplateExpression(title))
    return [title.head, ...title.templateSpans.map(({ literal }) => literal)];
  if (!ts.isBinaryExpression(title) || title.operatorToken.kind !== ts.SyntaxKind.PlusToken) return [];
  return [title.left, title.right].flatMap(listTitleParts);
}

function readSource(path: string, text: string): PlacedText[] {
  const source = parse(path, text);
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  const texts: PlacedText[] = [];
  const seen = new Set<number>();
  const titles = new Set<ts.Node>();
  const isTest = path.startsWith("test/");
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
    const title = isTest ? getTitle(node) : undefined;
    if (title !== undefined) for (const part of listTitleParts(title)) titles.add(part);
    if (!isText(node)) return;
    const isRead = isTest ? titles.has(node) : SENTENCE.test(node.text);
    if (isRead) texts.push({ place: "string", line: lineAt(node.getStart(source)), text: node.text });
  });
  return texts;
}

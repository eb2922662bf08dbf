/** String in its encoded form. */
export interface TextNode {
  readonly kind: "text";
  /** Includes quotes and escapes. */
  spelling: string;
}

/** Number, `true`, `false`, or `null` in its encoded form. */
export interface OtherNode {
  readonly kind: "other";
  readonly spelling: string;
}

/** Array. */
export interface ListNode {
  readonly kind: "list";
  items: JsonNode[];
}

/** Field of an object. */
export interface FieldNode {
  name: string;
  readonly value: JsonNode;
}

/** Object. A name may occur more than once. */
export interface RecordNode {
  readonly kind: "record";
  fields: FieldNode[];
}

/** Value that contains other values. */
export type ParentNode = ListNode | RecordNode;

/** JSON value that preserves what `JSON.parse` loses: repeated names, the order of all names, and digits of numbers. */
export type JsonNode = TextNode | OtherNode | ParentNode;

const SPACES: ReadonlySet<string> = new Set([" ", "\t", "\n", "\r", ",", ":"]);
const SCALAR_ENDS = /[\s,\]}]/g;

/** Parses valid JSON of any depth into nodes that can be changed and encoded again. */
export function parseTree(text: string): JsonNode {
  const root: ListNode = { kind: "list", items: [] };
  const open: ParentNode[] = [root];
  let name: string | undefined;
  for (let at = 0; at < text.length; ) {
    const character = text.charAt(at);
    const top = open.at(-1) ?? root;
    const isClosing = character === "}" || character === "]";
    if (isClosing) open.pop();
    if (isClosing || SPACES.has(character)) {
      at++;
      continue;
    }
    const end = findTokenEnd(text, at, character);
    const spelling = text.slice(at, end);
    at = end;
    if (top.kind === "record" && name === undefined) {
      name = decodeString(spelling);
      continue;
    }
    const node = makeNode(character, spelling);
    if (top.kind === "list") top.items.push(node);
    else top.fields.push({ name: name ?? "", value: node });
    name = undefined;
    if (node.kind === "list" || node.kind === "record") open.push(node);
  }
  return root.items[0] ?? { kind: "other", spelling: "null" };
}

function makeNode(character: string, spelling: string): JsonNode {
  if (character === "{") return { kind: "record", fields: [] };
  if (character === "[") return { kind: "list", items: [] };
  return character === '"' ? { kind: "text", spelling } : { kind: "other", spelling };
}

function findTokenEnd(text: string, at: number, character: string): number {
  if (character === "{" || character === "[") return at + 1;
  if (character === '"') return findStringEnd(text, at);
  SCALAR_ENDS.lastIndex = at;
  return SCALAR_ENDS.exec(text)?.index ?? text.length;
}

/** Returns the index after the closing quote of the string that begins at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return text.length;
    let slashes = 0;
    while (quote - slashes > from && text.charCodeAt(quote - slashes - 1) === 0x5c) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}

/** Decodes a string from its encoded form. */
export function decodeString(spelling: string): string {
  if (!spelling.includes("\\")) return spelling.slice(1, -1);
  const decoded: unknown = JSON.parse(spelling);
  return String(decoded);
}

/** Encodes nodes as JSON without white space. */
export function encodeTree(node: JsonNode): string {
  const parts: string[] = [];
  const open: { readonly node: ParentNode; next: number }[] = [];
  const put = (one: JsonNode) => {
    if (one.kind === "text" || one.kind === "other") parts.push(one.spelling);
    else {
      parts.push(one.kind === "list" ? "[" : "{");
      open.push({ node: one, next: 0 });
    }
  };
  put(node);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const at = top.next++;
    const field = top.node.kind === "record" ? top.node.fields[at] : undefined;
    const value = top.node.kind === "list" ? top.node.items[at] : field?.value;
    if (value === undefined) {
      parts.push(top.node.kind === "list" ? "]" : "}");
      open.pop();
      continue;
    }
    if (at > 0) parts.push(",");
    if (field !== undefined) parts.push(`${JSON.stringify(field.name)}:`);
    put(value);
  }
  return parts.join("");
}

/** Yields all strings below a node, decoded: field names and values. */
export function* walkStrings(node: JsonNode): Generator<string, void> {
  const left: JsonNode[] = [node];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (one.kind === "text") yield decodeString(one.spelling);
    else if (one.kind === "list") for (const item of one.items) left.push(item);
    else if (one.kind === "record") {
      for (const { name, value } of one.fields) {
        yield name;
        left.push(value);
      }
    }
  }
}

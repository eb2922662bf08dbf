import {
  findConverter,
  findForeignBlockField,
  findForeignField,
  isForeignBlockType,
  isForeignRole,
} from "./foreign-form.ts";
import { isJsonRecord, type JsonRecord } from "./json.ts";
import { agentMessage } from "./message-shapes.ts";
import type { AnyField, AnyObjectShape, AnyShape, AnyVariants } from "./shape.ts";
import { describeType, withArticle } from "./validation-problems.ts";

const PROJECTED_ROLES: ReadonlySet<unknown> = new Set(["branchSummary", "compactionSummary"]);

const NO_PROBLEMS: readonly string[] = Object.freeze([]);

/**
 * Throws if a value cannot be stored as a message, or if readers of the session could not use it.
 *
 * @param findProblems - Returns the problems of a message that has a role.
 * @throws {TypeError} If the message has no role, has a role whose messages are created from entries, or has the shape of an
 *   SDK's messages.
 * @remarks Cost: O(content blocks). Source: docs/guide.md#append
 */
export function assertMessage(message: unknown, findProblems = findMessageProblems): void {
  const role = isJsonRecord(message) ? message["role"] : undefined;
  if (!isJsonRecord(message) || typeof role !== "string") {
    throw new TypeError(
      `A message needs a role; pass an object such as { role: "user", … }.${getAdvice(message)}`,
    );
  }
  if (PROJECTED_ROLES.has(role)) {
    throw new TypeError(
      `Messages of role ${role} are created from entries; use branchWithSummary or appendCompaction.`,
    );
  }
  const problems = findProblems(message);
  if (problems.length === 0) return;
  throw new TypeError(`This is not a session message: ${problems.join("; ")}.${getAdvice(message)}`);
}

/** Returns advice for a message with a different shape. */
function getAdvice(message: unknown): string {
  const converter = findConverter(message);
  return converter === undefined
    ? " docs/format.md lists the fields of a message; sessiontree/convert converts messages of an SDK."
    : ` Convert it with ${converter} from sessiontree/convert.`;
}

/**
 * Returns the reasons why a value is not a message in this format: content that readers would not find or could not handle.
 *
 * Checks much less than `validateEntry` does: only the fields that readers require. Other fields may be missing, fields and
 * blocks of unknown types are kept, and messages with a host's own role are not checked.
 *
 * @param message - Value with a role that can be stored.
 * @returns One line per problem: a path, a colon, and the problem. Empty if the value is a valid message.
 * @remarks Cost: O(content blocks). Does not allocate memory for a valid message.
 */
export function findMessageProblems(message: JsonRecord): readonly string[] {
  const { role } = message;
  const shape = agentMessage.byTag.get(role);
  const isForeign = shape === undefined && isForeignRole(role);
  if (!isForeign && shape === undefined) return NO_PROBLEMS;
  const field = findForeignField(message);
  const problem = shape === undefined ? undefined : findFieldProblem(shape, message);
  if (!isForeign && field === undefined && problem === undefined) return NO_PROBLEMS;
  const problems: string[] = [];
  if (isForeign) problems.push(`role: ${JSON.stringify(role)} is another SDK's`);
  if (field !== undefined) problems.push(`${field}: no field of this format`);
  if (problem !== undefined) problems.push(problem);
  return problems;
}

/** Returns the problems of a stored message only if it comes from another SDK. Readers tolerate everything else. */
export function findStoredMessageProblems(message: JsonRecord): readonly string[] {
  return findConverter(message) === undefined ? NO_PROBLEMS : findMessageProblems(message);
}

/** Returns a problem with the fields that readers require, preceded by its path; undefined if there is none. */
function findFieldProblem({ needed }: AnyObjectShape, value: JsonRecord): string | undefined {
  for (let i = 0; i < needed.length; i++) {
    const field = needed[i];
    if (field === undefined) continue;
    const part = value[field.name];
    const problem = part === undefined && field.mayBeMissing ? undefined : findProblem(field.shape, part);
    if (problem !== undefined) return field.name + problem;
  }
  return undefined;
}

/** Returns a problem with a value, preceded by the rest of its path; undefined if there is none. */
function findProblem(shape: AnyField, value: unknown): string | undefined {
  if (shape.kind === "oneOf") {
    for (const one of shape.of) if (hasKind(one, value)) return findProblem(one, value);
    return describeMisfit(shape.expected, value);
  }
  if (!hasKind(shape, value)) return describeMisfit(describeExpected(shape), value);
  if (shape.kind === "list" && Array.isArray(value)) return findListProblem(shape.of, value);
  return shape.kind === "variants" && isJsonRecord(value) ? findBlockProblem(shape, value) : undefined;
}

function findListProblem(of: AnyShape, list: readonly unknown[]): string | undefined {
  for (let i = 0; i < list.length; i++) {
    const problem = findProblem(of, list[i]);
    if (problem !== undefined) return `[${i}]${problem}`;
  }
  return undefined;
}

function findBlockProblem({ tag, byTag }: AnyVariants, block: JsonRecord): string | undefined {
  const type = block[tag];
  const shape = byTag.get(type);
  if (shape === undefined) {
    if (typeof type !== "string") return `.${tag}${describeMisfit("a string", type)}`;
    return isForeignBlockType(type) ? `.${tag}: ${JSON.stringify(type)} is another SDK's` : undefined;
  }
  const field = findForeignBlockField(block);
  if (field !== undefined) return `.${field}: no field of this format`;
  const problem = findFieldProblem(shape, block);
  return problem === undefined ? undefined : `.${problem}`;
}

/** Returns whether a value has the type that a shape requires, without checking its content. */
function hasKind(shape: AnyField, value: unknown): boolean {
  switch (shape.kind) {
    case "string":
    case "number":
    case "boolean":
      return typeof value === shape.kind;
    case "list":
      return Array.isArray(value);
    case "variants":
    case "object":
    case "map":
      return isJsonRecord(value);
    case "json":
      // Other SDKs store the arguments of a call as a string.
      return !shape.isObject || typeof value !== "string";
    default:
      return true;
  }
}

function describeExpected(shape: AnyField): string {
  if (shape.kind === "list") return shape.expected;
  return withArticle(shape.kind === "variants" || shape.kind === "json" ? "object" : shape.kind);
}

function describeMisfit(expected: string, found: unknown): string {
  return found === undefined
    ? `: missing, expected ${expected}`
    : `: expected ${expected}, found ${describeType(found)}`;
}

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

const NO_PROBLEMS: readonly string[] = Object.freeze([]);

/**
 * Says why a value is no message of this format: what readers would not find in it, or would fail on.
 *
 * Checks much less than `validateEntry`: of the same shapes, only the fields that readers need. Others may be missing,
 * fields and blocks of unknown types are kept, and messages with a host's own role are not checked.
 *
 * @param message - A value with a role, one of those that are stored.
 * @returns Lines of a path, a colon and what is wrong there; empty if it is a message.
 * @remarks Cost: O(content blocks); nothing is allocated for a message that is in order.
 */
export function findMessageProblems(message: JsonRecord): readonly string[] {
  const { role } = message;
  const shape = agentMessage.byTag.get(role);
  const isForeign = isForeignRole(role);
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

/** Says the same of a stored message, but only if it is an SDK's: readers tolerate everything else. */
export function findStoredMessageProblems(message: JsonRecord): readonly string[] {
  return findConverter(message) === undefined ? NO_PROBLEMS : findMessageProblems(message);
}

/** What is wrong with the fields that readers need, after their names; undefined if nothing is. */
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

/** What is wrong with a value, after the rest of its path; undefined if nothing is. */
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

/** Tells whether a value is of the kind of a shape, without a look inside. */
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
      // Other SDKs write the arguments of a call as a text.
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

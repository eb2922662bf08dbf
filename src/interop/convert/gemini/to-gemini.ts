import { toRecord } from "../../../core/context/entry-fields.ts";
import { isJsonRecord } from "../../../core/format/json.ts";
import type { RequestOptions } from "../conversion-options.ts";
import { type Dialect, type ModelIdentity, USUAL_DIALECT } from "../dialect.ts";
import { joinTurns, type PlannedAnswer, type PlannedResult, writeTurns } from "../request-plan.ts";
import { planRequest } from "../session/plan-source.ts";
import type { RequestSource } from "../session/session-steps.ts";
import { ToolIds } from "../tool-ids.ts";
import {
  type CallStyle,
  type GeminiPart,
  type GeminiRequest,
  isSignature,
  readAnswerParts,
  readResponse,
  readUser,
  writeAnswer,
  writeKeptPart,
  writeResponse,
  writeUser,
} from "./gemini-content.ts";

const MAX_ID = 64;
const MAX_NAME = 64;

/** First model generation that requires signatures and ids and accepts images in results. */
const NEW_GENERATION = 3;

/** Dialect for Gemini requests. */
export const GEMINI: Dialect = {
  ...USUAL_DIALECT,
  form: "gemini",
  apis: new Set(["google-generative-ai", "google-vertex"]),
  provider: "google",
  startsWithUser: true,
  imageTypes: new Set(["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"]),
  takesImages: (_, target) => isNewGeneration(target),
  fitName,
  keepsSignedText: () => true,
  isSignature,
  newIds: () => new ToolIds({ maxLength: MAX_ID }),
  canReplay: ({ thinking, thinkingSignature }) =>
    thinkingSignature === undefined ? thinking !== "" : isSignature(thinkingSignature),
  readUser,
  readAnswer: (raw) => (Array.isArray(raw) ? readAnswerParts(raw) : undefined),
  readResult: readResponse,
};

/**
 * Converts a session, or the messages of a context, to a request for Gemini's `generateContent`.
 *
 * Each signature is sent back on its own part. Roles must alternate, so consecutive messages with the same role are combined into
 * one content object.
 *
 * @param source - Session, or messages such as `buildSessionContext().messages`. Not modified.
 * @param options - `model` also determines the model generation. If it is omitted, the newest generation is assumed.
 * @returns `contents`, `systemInstruction` for the request's `config`, and issues.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#gemini
 */
export function toGemini(source: RequestSource, options: RequestOptions = {}): GeminiRequest {
  const { system, items, ids, issues, target } = planRequest(source, GEMINI, options);
  const style: CallStyle = { isNew: isNewGeneration(target), getId: (id) => ids.of(id) };
  const turns = writeTurns<readonly GeminiPart[]>(items, {
    user: ({ raw, content }) => (isParts(raw) ? raw : writeUser(content)),
    answer: ({ raw, content }) =>
      isParts(raw) ? raw.map((part) => writeKeptPart(part, style)) : writeAnswer(content, style),
    results: (_, answer) => orderResults(answer, style).map((result) => writeResult(result, style)),
  });
  const contents = joinTurns(turns).map(({ by: role, content }) => ({ role, parts: content }));
  const instruction = system === "" ? {} : { systemInstruction: { parts: [{ text: system }] } };
  return { ...instruction, contents, issues: issues.list() };
}

function writeResult({ message, raw }: PlannedResult, style: CallStyle): GeminiPart {
  const { toolName } = message;
  return isPart(raw, toolName) ? writeKeptPart(raw, style) : writeResponse(message, toolName, style);
}

/** Converts a name to letters, digits, `_`, `.`, `:`, and `-`, with a letter or `_` first. */
function fitName(name: string): string {
  const plain = name.replace(/[^a-zA-Z0-9_.:-]/g, "_");
  return (/^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`).slice(0, MAX_NAME);
}

/**
 * Returns the results of an answer. For older models, which match parallel calls only by order, sorts the results in the order of
 * their calls.
 */
function orderResults({ results, content }: PlannedAnswer, { isNew }: CallStyle): readonly PlannedResult[] {
  if (isNew) return results;
  const ids = content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
  const positions = new Map(ids.map((id, at) => [id, at]));
  const getPosition = ({ message }: PlannedResult) => positions.get(message.toolCallId) ?? ids.length;
  return results.toSorted((a, b) => getPosition(a) - getPosition(b));
}

function isNewGeneration(target: ModelIdentity | undefined): boolean {
  const [, generation] = /gemini-(\d+)/.exec(target?.model ?? "") ?? [];
  return generation === undefined || Number(generation) >= NEW_GENERATION;
}

/** Returns whether a value is an array of kept parts. Unknown types are sent unchanged. */
function isParts(raw: unknown): raw is GeminiPart[] {
  return Array.isArray(raw) && raw.every(isJsonRecord);
}

/** Returns whether a value is a kept result with the tool name used in the request. */
function isPart(raw: unknown, name: string): raw is GeminiPart {
  return toRecord(toRecord(raw)["functionResponse"])["name"] === name;
}

import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { TextContent, ThinkingContent } from "../../../core/format/content.ts";
import { isJsonRecord } from "../../../core/format/json.ts";
import type { UserMessage } from "../../../core/format/message.ts";
import type { AnswerBlock, ReadResult, UserBlock } from "../dialect.ts";
import { imageOf, placeholder } from "../images.ts";
import { withoutFields } from "../raw-form.ts";
import { argumentsOf } from "../tool-arguments.ts";

/** What newer models accept instead of a missing signature, as for a call that another model made. */
export const NO_SIGNATURE = "skip_thought_signature_validator";

/** Reads the content of a user message from parts; skips results. A single text stays a text. */
export function readUser(raw: unknown): UserMessage["content"] | undefined {
  if (!Array.isArray(raw)) return undefined;
  const blocks = raw.filter((part) => !isResponse(part)).map(readUserPart);
  const [first] = blocks;
  return blocks.length === 1 && first?.type === "text" ? first.text : blocks;
}

function readUserPart(part: unknown): UserBlock {
  const { text, inlineData, fileData } = fieldsOf(part);
  if (typeof text === "string") return { type: "text", text };
  if (inlineData !== undefined) return readBlob(inlineData);
  const { fileUri, mimeType } = fieldsOf(fileData);
  return placeholder(typeof mimeType === "string" ? mimeType : "part", fileUri);
}

function readBlob(blob: unknown): UserBlock {
  const { mimeType, data, displayName } = fieldsOf(blob);
  return imageOf(mimeType, data) ?? placeholder(String(mimeType), displayName);
}

/** Gives an id to each call that has none, so that its result can name it; the seed tells those of several answers apart. */
export function withCallIds(parts: readonly object[], seed: string): object[] {
  return parts.map((part, at) => {
    const { functionCall } = fieldsOf(part);
    if (!isJsonRecord(functionCall) || isId(functionCall["id"])) return part;
    const id = `${String(functionCall["name"])}_${seed}_${at}`;
    return { ...part, functionCall: { ...functionCall, id } };
  });
}

function isId(id: unknown): id is string {
  return typeof id === "string" && id !== "";
}

/** Reads the parts of an answer whose calls have ids; those that have no counterpart are passed over. */
export function readAnswerParts(parts: readonly unknown[]): AnswerBlock[] {
  return parts.flatMap((part): AnswerBlock[] => {
    const { functionCall } = fieldsOf(part);
    if (!isJsonRecord(functionCall)) return [readSpokenPart(part)].filter((block) => block !== undefined);
    const { id, name, args } = functionCall;
    if (typeof name !== "string" || !isId(id)) return [];
    const signature = signatureOf(part);
    const call = { type: "toolCall", id, name, arguments: argumentsOf(args) ?? {} } as const;
    return [{ ...call, ...(signature !== undefined && { thoughtSignature: signature }) }];
  });
}

/** Reads a part that the model said or thought; undefined if it is something else. */
export function readSpokenPart(part: unknown): TextContent | ThinkingContent | undefined {
  const { text, thought } = fieldsOf(part);
  const signature = signatureOf(part);
  if (typeof text !== "string") return undefined;
  return thought === true
    ? { type: "thinking", thinking: text, ...(signature !== undefined && { thinkingSignature: signature }) }
    : { type: "text", text, ...(signature !== undefined && { textSignature: signature }) };
}

function signatureOf(part: unknown): string | undefined {
  const { thoughtSignature } = fieldsOf(part);
  return isId(thoughtSignature) && thoughtSignature !== NO_SIGNATURE ? thoughtSignature : undefined;
}

/** Tells whether a part is a result. */
export function isResponse(part: unknown): boolean {
  return isJsonRecord(fieldsOf(part)["functionResponse"]);
}

/** Gives a result without an id that of the call that it answers, which is found by its name. */
export function withResponseId(part: object, idOf: (name: unknown) => string): object {
  const functionResponse = fieldsOf(fieldsOf(part)["functionResponse"]);
  const { id, name } = functionResponse;
  return isId(id) ? part : { ...part, functionResponse: { ...functionResponse, id: idOf(name) } };
}

/** Reads a result out of a part; undefined if it has no id. */
export function readResponse(part: unknown): ReadResult | undefined {
  const { id, response, parts } = fieldsOf(fieldsOf(part)["functionResponse"]);
  if (!isId(id)) return undefined;
  const { output, error, ...others } = fieldsOf(response);
  // Some tools have the field in every result, empty if they succeeded.
  const isEmpty = error === undefined || error === null || error === "";
  const isError = !isEmpty || (error === "" && output === undefined && Object.keys(others).length === 0);
  return {
    toolCallId: id,
    content: [
      ...textsOfOutput(isError ? error : (output ?? response)),
      ...listOf(parts).map((blob) => readBlob(fieldsOf(blob)["inlineData"])),
    ],
    isError,
  };
}

function textsOfOutput(output: unknown): TextContent[] {
  const text = typeof output === "string" ? output : JSON.stringify(output ?? "");
  return text === "" ? [] : [{ type: "text", text }];
}

/** Normalises equivalent forms of a part: ids may be invented, and a missing signature may be spelled out. */
export function plainPart(part: object): object {
  const { functionCall, functionResponse, thoughtSignature, ...rest } = withoutFields(part);
  return {
    ...rest,
    ...(thoughtSignature !== NO_SIGNATURE && { thoughtSignature }),
    ...(functionCall !== undefined && {
      functionCall: { args: {}, ...withoutFields(fieldsOf(functionCall), ["id"]) },
    }),
    ...(functionResponse !== undefined && {
      functionResponse: withoutFields(fieldsOf(functionResponse), ["id"]),
    }),
  };
}

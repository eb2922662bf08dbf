import { getTexts } from "../../../../src/core/context/content-text.ts";
import { toArray, toRecord } from "../../../../src/core/context/entry-fields.ts";
import { isSameJson } from "../../../../src/interop/convert/raw-form.ts";

/** Content of a request in any provider's form: texts, calls, results, and images, in order. */
export type Said =
  | { readonly kind: "user" | "model"; readonly text: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly kind: "result"; readonly id: string; readonly text: string; readonly isError?: boolean }
  | { readonly kind: "image"; readonly data: string };

/** Reads the body of a request to Anthropic's Messages API. */
export function readAnthropicRequest(body: unknown): Said[] {
  return toArray(toRecord(body)["messages"]).flatMap((message) => {
    const { role, content } = toRecord(message);
    const kind = role === "assistant" ? "model" : "user";
    if (typeof content === "string") return sayText(kind, content);
    return toArray(content).flatMap((block) => readAnthropicBlock(kind, toRecord(block)));
  });
}

function readAnthropicBlock(kind: "user" | "model", block: { readonly [name: string]: unknown }): Said[] {
  const { type, text, id, name, input, tool_use_id, content, is_error, source } = block;
  if (type === "text") return sayText(kind, String(text));
  if (type === "image") return [{ kind: "image", data: String(toRecord(source)["data"]) }];
  if (type === "tool_use") return [{ kind: "call", id: String(id), name: String(name), input }];
  if (type !== "tool_result") return sayText(kind, `[${String(type)}]`);
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : toArray(content);
  const isError = is_error === true;
  const images = parts.filter((part) => toRecord(part)["type"] === "image");
  return [
    {
      kind: "result",
      id: String(tool_use_id),
      text: getTexts(parts).join("\n"),
      ...(isError && { isError }),
    },
    ...images.flatMap((part) => readAnthropicBlock(kind, toRecord(part))),
  ];
}

/** Reads the body of a request to OpenAI's Responses API. */
export function readResponsesRequest(body: unknown): Said[] {
  return toArray(toRecord(body)["input"]).flatMap((item) => {
    const { type, role, content, call_id, name, arguments: args, input, output } = toRecord(item);
    if (role === "system" || role === "developer") return [];
    if (role !== undefined) return readParts(role === "assistant" ? "model" : "user", content);
    const id = String(call_id);
    if (type === "function_call")
      return [{ kind: "call" as const, id, name: String(name), input: JSON.parse(String(args)) }];
    if (type === "custom_tool_call")
      return [{ kind: "call" as const, id, name: String(name), input: { input } }];
    if (type !== "function_call_output" && type !== "custom_tool_call_output")
      return sayText("model", `[${String(type)}]`);
    const said = readParts("user", output);
    const text = said.flatMap((one) => (one.kind === "user" ? one.text : [])).join("\n");
    return [{ kind: "result" as const, id, text }, ...said.filter(({ kind }) => kind === "image")];
  });
}

function readParts(kind: "user" | "model", content: unknown): Said[] {
  if (typeof content === "string") return sayText(kind, content);
  return toArray(content)
    .map(toRecord)
    .flatMap(({ type, text, image_url }): Said[] => {
      if (type !== "input_image") return sayText(kind, String(text));
      return [{ kind: "image", data: String(image_url).split(",").at(-1) ?? "" }];
    });
}

function sayText(kind: "user" | "model", text: string): Said[] {
  return text === "" ? [] : [{ kind, text }];
}

/** Returns whether a list contains another one as a contiguous sequence. */
export function includesRun(all: readonly Said[], run: readonly Said[]): boolean {
  return all.some((_, start) => run.every((one, i) => isSameJson(one, all[start + i])));
}

/** Removes white space after user texts: Claude Code ends a text with a line break if another follows. */
export function trimUserTexts(all: readonly Said[]): Said[] {
  return all.map((one) => (one.kind === "user" ? { ...one, text: one.text.trimEnd() } : one));
}

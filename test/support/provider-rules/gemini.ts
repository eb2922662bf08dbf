import { fields, list, text, unicodeFaults } from "./json.ts";

/** Server state that is not in the contents. */
export interface GeminiKnowledge {
  /** The requested model. Default: one of generation 3. */
  readonly model?: string;
}

type Part = { readonly [name: string]: unknown };
type Fault = (fault: string) => void;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const NO_SIGNATURE = "skip_thought_signature_validator";
const DATA = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
];

/**
 * Returns the errors that `generateContent` would return with status 400.
 *
 * @param request - `{ contents }`, with or without `systemInstruction`.
 * @returns One line for each fault, in the provider's words; empty if the request is accepted.
 */
export function checkGeminiRequest(
  request: unknown,
  { model = "gemini-3-pro" }: GeminiKnowledge = {},
): string[] {
  const faults = unicodeFaults(request);
  const fault: Fault = (line) => faults.push(line);
  const contents = list(fields(request)["contents"]).map(fields);
  if (contents.length === 0) fault("* GenerateContentRequest.contents: contents is not specified");
  const generation = Number(/gemini-(\d+)/.exec(model)?.[1] ?? 3);
  contents.forEach((content, at) => {
    const { role } = content;
    const parts = list(content["parts"]).map(fields);
    const place = `contents[${at}]`;
    if (role !== "user" && role !== "model") fault("Please use a valid role: user, model.");
    if (at === 0 ? role !== "user" : role === contents[at - 1]?.["role"]) {
      fault("Please ensure that multiturn requests alternate between user and model.");
    }
    if (parts.length === 0)
      fault(`* GenerateContentRequest.${place}.parts: contents.parts must not be empty.`);
    parts.forEach((part, n) => {
      checkPart(part, `${place}.parts[${n}]`, generation, fault);
    });
    checkCalls(contents, at, generation, fault);
  });
  return faults;
}

function checkPart(part: Part, place: string, generation: number, fault: Fault): void {
  const held = DATA.filter((name) => part[name] !== undefined);
  if (held.length !== 1)
    fault(
      `* GenerateContentRequest.${place}.data: required oneof field 'data' must have one initialized field`,
    );
  const { thoughtSignature } = part;
  if (
    thoughtSignature !== undefined &&
    thoughtSignature !== NO_SIGNATURE &&
    !BASE64.test(text(thoughtSignature))
  ) {
    fault(`Invalid value at '${place}.thought_signature' (TYPE_BYTES), Base64 decoding failed`);
  }
  if (part["text"] === "" && thoughtSignature === undefined)
    fault(`${place}: Unable to submit request because it has an empty text parameter.`);
  const { name, parts } = fields(part["functionResponse"] ?? part["functionCall"] ?? { name: "a" });
  if (!NAME.test(text(name))) {
    fault(
      `* GenerateContentRequest.${place}.function.name: Invalid function name. Must start with a letter or an underscore. ` +
        "Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.",
    );
  }
  if (generation < 3 && parts !== undefined)
    fault("Multimodal function responses are not supported by this model.");
}

function findParts(contents: readonly Part[], at: number, kind: string): Part[] {
  return list(contents[at]?.["parts"])
    .map(fields)
    .filter((part) => part[kind] !== undefined);
}

function checkCalls(contents: readonly Part[], at: number, generation: number, fault: Fault): void {
  const calls = findParts(contents, at, "functionCall");
  const asked = findParts(contents, at - 1, "functionCall");
  const answers = findParts(contents, at + 1, "functionResponse");
  if (calls.length > 0 && contents[at]?.["role"] !== "model")
    fault("Function calls belong to the role model.");
  if (calls.length !== answers.length) {
    fault(
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    );
  }
  if (calls.length > 0 && generation >= 3 && calls[0]?.["thoughtSignature"] === undefined) {
    fault(`Function call is missing a thought_signature in functionCall parts, position ${at}.`);
  }
  const responses = findParts(contents, at, "functionResponse");
  if (responses.length > 0 && asked.length === 0) {
    fault("Please ensure that function response turn comes immediately after a function call turn.");
  }
  const getNames = (parts: readonly Part[], kind: string) => {
    const names = parts.map((part) => text(fields(part[kind])["name"]));
    // Without ids, only the order determines which response belongs to which call.
    return generation < 3 ? names : names.sort();
  };
  const called = getNames(asked, "functionCall");
  if (responses.length > 0 && getNames(responses, "functionResponse").join() !== called.join()) {
    fault("Please ensure that the function responses have the names of the function calls.");
  }
}

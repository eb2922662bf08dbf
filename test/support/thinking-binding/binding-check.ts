import { createHash } from "node:crypto";
import { fields, list, text } from "../provider-rules/json.ts";

/** A block of thinking in a request, and the API's verdict on it. */
export interface CheckedBlock {
  /** Position in the request, as the API names it. */
  readonly path: string;
  /** Signature, or data of redacted thinking. */
  readonly signature: string;
  /** Reason why it is void; undefined if it is valid. */
  readonly reason: Reason | undefined;
}

type Reason = "organization_binding_mismatch" | "model_binding_mismatch" | "prefix_binding_mismatch";

/** Request facts in the signature of the block that it produced. */
interface Binding {
  readonly account: string;
  readonly model: string;
  /** Hash of `system`, `tools`, and all messages before the block, without thinking. */
  readonly prefix: string;
  /** Signature of the thinking before it; empty if it was the first. */
  readonly previous: string;
}

/** First version of Claude whose thinking is bound to its prefix. */
const BOUND_SINCE = 5.1;

/**
 * A fake of the check with which Claude binds thinking to the exact prefix, written from its published facts alone.
 *
 * Signs the thinking of answers, and returns for each block of a later request whether it is valid there.
 */
export class BindingCheck {
  readonly #account: string;
  readonly #bindings = new Map<string, Binding>();
  /** State of the prefix that a compaction block replaces, by its signature. */
  readonly #compacted = new Map<string, string>();
  #count = 0;

  constructor(account = "org-1") {
    this.#account = account;
  }

  /** Answers a request: signs the thinking of a content, in Anthropic's form or in Bedrock's. */
  sign(request: unknown, model: string, content: readonly object[]): object[] {
    let previous = listBlocks(request).at(-1)?.signature ?? "";
    const prefix = listPrefixes(request, this.#compacted).at(-1) ?? "";
    return content.map((block) => {
      if (readSignature(block) === undefined) return block;
      const signature = Buffer.from(`${this.#account}/${++this.#count}`).toString("base64");
      this.#bindings.set(signature, { account: this.#account, model, prefix, previous });
      previous = signature;
      return signed(block, signature);
    });
  }

  /** Answers a request with `compaction: { type: "summarize" }`. */
  compact(request: unknown, summary: string): object {
    const signature = Buffer.from(`${this.#account}/compaction/${++this.#count}`).toString("base64");
    this.#compacted.set(signature, listPrefixes(request, this.#compacted).at(-1) ?? "");
    return { type: "compaction", content: summary, encrypted_content: null, signature };
  }

  /** Checks each block of thinking in a request. */
  check(request: unknown, model: string): CheckedBlock[] {
    const prefixes = listPrefixes(request, this.#compacted);
    let previous = "";
    return listBlocks(request).map(({ signature, path, message }) => {
      const reason = this.#reason(this.#bindings.get(signature), model, prefixes[message] ?? "", previous);
      previous = signature;
      return { path, signature, reason };
    });
  }

  /** Returns the text of the error with status 400, or undefined if the request is accepted. */
  refusal(request: unknown, model: string): string | undefined {
    const first = this.check(request, model).find(({ reason }) => reason === "prefix_binding_mismatch");
    if (first === undefined) return undefined;
    return `${first.path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`;
  }

  #reason(binding: Binding | undefined, model: string, prefix: string, previous: string): Reason | undefined {
    if (binding?.account !== this.#account) return "organization_binding_mismatch";
    const [maker, asked] = [readVersion(binding.model), readVersion(model)];
    if (maker.family !== asked.family || maker.version !== asked.version) return "model_binding_mismatch";
    if (asked.version < BOUND_SINCE) return undefined;
    if (binding.prefix !== prefix) return "prefix_binding_mismatch";
    // Thinking may be missing at the start of the history, but not in the middle.
    const isInChain = previous === "" || previous === binding.previous;
    return isInChain ? undefined : "prefix_binding_mismatch";
  }
}

/** Parses a Claude model's name: `claude-opus-5-5-20260901`, `us.anthropic.claude-opus-5-5-v1:0`, `claude-opus-5`. */
function readVersion(model: string): { readonly family: string; readonly version: number } {
  const [, family = model, major = "0", minor = "0"] =
    /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model) ?? [];
  return { family, version: Number(`${major}.${minor}`) };
}

/** Returns the hash of everything before each message, and that of the whole request. */
function listPrefixes(request: unknown, compacted: ReadonlyMap<string, string>): string[] {
  const { system, tools, messages } = fields(request);
  const said = inBlocks(system).map(unmarked);
  let state = hash({ system: said, tools: list(tools).map(unmarked) });
  const prefixes = [];
  for (const message of list(messages)) {
    prefixes.push(state);
    const { role, content } = fields(message);
    const blocks = inBlocks(content).filter((block) => readSignature(block) === undefined);
    const [first] = blocks.map(fields);
    const replaced = first?.["type"] === "compaction" && compacted.get(text(first["signature"]));
    if (typeof replaced === "string") state = replaced;
    else state = hash({ state, role, content: blocks.map(unmarked) });
  }
  return [...prefixes, state];
}

/** Returns the blocks of thinking in a request, in order. */
function listBlocks(request: unknown) {
  return list(fields(request)["messages"]).flatMap((message, at) =>
    inBlocks(fields(message)["content"]).flatMap((block, index) => {
      const signature = readSignature(block);
      return signature === undefined
        ? []
        : [{ signature, path: `messages.${at}.content.${index}`, message: at }];
    }),
  );
}

function inBlocks(content: unknown): readonly unknown[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : list(content);
}

/** Returns the signature of a block of thinking, undefined for any other. */
function readSignature(block: unknown): string | undefined {
  const { type, signature, data, reasoningContent } = fields(block);
  if (type === "thinking") return text(signature);
  if (type === "redacted_thinking") return text(data);
  if (reasoningContent === undefined) return undefined;
  const { reasoningText, redactedContent } = fields(reasoningContent);
  if (redactedContent instanceof Uint8Array) return Buffer.from(redactedContent).toString("base64");
  return text(redactedContent) || text(fields(reasoningText)["signature"]);
}

function signed(block: object, signature: string): object {
  const { type, reasoningContent } = fields(block);
  if (type === "redacted_thinking") return { ...block, data: signature };
  if (type === "thinking") return { ...block, signature };
  const { reasoningText } = fields(reasoningContent);
  return { reasoningContent: { reasoningText: { ...fields(reasoningText), signature } } };
}

/** Omits cache marks, which do not count as changes. */
function unmarked(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(unmarked);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, one]) => name !== "cache_control" && one !== undefined,
  );
  return Object.fromEntries(entries.sort().map(([name, one]) => [name, unmarked(one)]));
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** Fields of a record. */
type Fields = { readonly [name: string]: unknown };

/** The model of an answer. */
export interface Model {
  readonly provider: string;
  readonly model: string;
}

const START_MS = Date.parse("2026-02-03T09:00:00.000Z");
const STEP_MS = 20_000;

/** Writes the lines of a session in order, each entry a child of the previous one unless the leaf was moved. */
export class SessionWriter {
  /** The parent of the next entry: the last entry unless the leaf was moved. */
  leaf: string | null = null;
  size = 0;
  readonly #lines: string[] = [];
  /** Model of the next answers. */
  model: Model;
  #contextTokens = 2_000;

  constructor(model: Model, id = "019c22f0-4e00-7000-8000-0000000000aa") {
    this.model = model;
    const timestamp = new Date(START_MS).toISOString();
    this.#lines.push(JSON.stringify({ type: "session", version: 3, id, timestamp, cwd: "/home/ada/till" }));
  }

  /** The file's content. */
  get text(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  /** Adds a line unchanged. */
  line(text: string): void {
    this.#lines.push(text);
  }

  /** Adds an entry; returns its ID. */
  add(type: string, fields: Fields): string {
    this.size++;
    const id = (0xa0000000 + this.size).toString(16);
    const timestamp = new Date(START_MS + this.size * STEP_MS).toISOString();
    this.#lines.push(JSON.stringify({ type, id, parentId: this.leaf, timestamp, ...fields }));
    this.leaf = id;
    return id;
  }

  user(content: unknown): string {
    return this.message({ role: "user", content });
  }

  assistant(content: unknown, fields: Fields = {}): string {
    const output = 40 + JSON.stringify(content).length;
    const input = 300 + (this.size % 7) * 40;
    const cacheRead = this.#contextTokens;
    this.#contextTokens += input + output;
    const cost = {
      input: input * 3e-6,
      output: output * 15e-6,
      cacheRead: cacheRead * 3e-7,
      cacheWrite: input * 3.75e-6,
    };
    const total = cost.input + cost.output + cost.cacheRead + cost.cacheWrite;
    const usage = {
      input: 12,
      output,
      cacheRead,
      cacheWrite: input,
      totalTokens: 12 + output + cacheRead + input,
      cost: { ...cost, total },
    };
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const common = {
      role: "assistant",
      content: blocks,
      api: "acme-chat",
      ...this.model,
      usage,
      stopReason: "stop",
    };
    return this.message({ ...common, ...fields });
  }

  /** Adds a call of a tool and its result; returns the result's ID. */
  tool(name: string, given: Fields, result: string, fields: Fields = {}): string {
    const toolCallId = `call_${this.size}`;
    this.assistant([{ type: "toolCall", id: toolCallId, name, arguments: given }], { stopReason: "toolUse" });
    const content = [{ type: "text", text: result }];
    return this.message({
      role: "toolResult",
      toolCallId,
      toolName: name,
      content,
      isError: false,
      ...fields,
    });
  }

  /** Adds a compaction that keeps the entries after an entry. */
  compact(summary: string, firstKeptEntryId: string): string {
    const tokensBefore = this.#contextTokens;
    this.#contextTokens = 3_000;
    return this.add("compaction", { summary, firstKeptEntryId, tokensBefore });
  }

  label(targetId: string, label: string): string {
    return this.add("label", { targetId, label });
  }

  /** Adds a message unchanged; returns its ID. */
  message(message: Fields): string {
    return this.add("message", { message: { ...message, timestamp: START_MS + (this.size + 1) * STEP_MS } });
  }
}

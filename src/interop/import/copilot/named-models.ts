import type { JsonRecord } from "../../../core/format/json.ts";
import type { SourceRecord } from "../source-text.ts";
import { member, textOf } from "../source-values.ts";

/** Models of answers that name none, as other events name them: versions up to about 1.0.20 write such answers. */
export class NamedModels {
  readonly #byCall = new Map<unknown, string>();
  /** The first model that an agent's events name, by the agent's id; the main agent has none. */
  readonly #first = new Map<unknown, string>();

  constructor(records: readonly SourceRecord[]) {
    for (const { value } of records) {
      const data = member(value, "data");
      const model = modelIn(value["type"], data);
      if (model === undefined) continue;
      const { agentId } = value;
      if (!this.#first.has(agentId)) this.#first.set(agentId, model);
      if (data["toolCallId"] !== undefined) this.#byCall.set(data["toolCallId"], model);
    }
  }

  /** Returns the model that the results of an answer's calls name. */
  findCalled(calls: readonly { readonly id: string }[]): string | undefined {
    return calls.map(({ id }) => this.#byCall.get(id)).find((model) => model !== undefined);
  }

  /** Returns the model that an agent begins with. */
  getFirst(agentId: string | undefined): string | undefined {
    return this.#first.get(agentId);
  }
}

function modelIn(type: unknown, data: JsonRecord): string | undefined {
  if (type === "assistant.message" || type === "tool.execution_complete") return textOf(data["model"]);
  return type === "session.shutdown" ? textOf(data["currentModel"]) : undefined;
}

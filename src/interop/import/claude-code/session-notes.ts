import type { SessionBuilder } from "../session-builder.ts";
import type { SourceRecord } from "../source-text.ts";
import { textOf } from "../source-values.ts";
import type { CostState } from "./cost-state.ts";
import type { ThreadUnits } from "./thread-units.ts";
import { dataOfRecord } from "./unit-entries.ts";

/** Types of records that do not matter to the conversation. */
const DROPPED: ReadonlySet<string> = new Set([
  "agent-name",
  "agent-setting",
  "agent_metadata",
  "api-request",
  "api-request-blob",
  "api-request-shape",
  "atis-latch",
  "bridge-session",
  "file-history-snapshot",
  "host-row",
  "last-prompt",
  "mode",
  "permission-mode",
  "queue-operation",
  "tools-used",
]);

/** Tells whether a record is one that does not matter to the conversation, whatever else there is. */
export function isDroppedNote({ value }: SourceRecord): boolean {
  return DROPPED.has(textOf(value["type"]) ?? "");
}

/** Priority of a name: the user's before the program's, and the program's before an old summary's. */
const NAME_RANKS = { summary: 1, "ai-title": 2, "custom-title": 3 } as const;

/** Reads the records of a transcript that are not part of the conversation: names, costs, and unknown records. */
export class SessionNotes {
  readonly #builder: SessionBuilder;
  readonly #uuids: ReadonlySet<string>;
  #name = "";
  #nameRank = 0;
  readonly #costs: CostState;
  #number = 0;

  constructor(builder: SessionBuilder, { unitOf }: ThreadUnits, costs: CostState) {
    this.#costs = costs;
    this.#builder = builder;
    this.#uuids = new Set(Array.from(unitOf.keys(), ({ uuid }) => uuid));
  }

  /** Reads the next record of the file. */
  take(record: SourceRecord): void {
    const { value } = record;
    const type = textOf(value["type"]) ?? "";
    switch (type) {
      case "custom-title":
        this.#takeName(textOf(value["customTitle"]) ?? "", type);
        break;
      case "ai-title":
        this.#takeName(textOf(value["aiTitle"]) ?? "", type);
        break;
      case "summary":
        // Most summaries name another session: the first lines of a file served as a list of all sessions.
        if (this.#uuids.has(textOf(value["leafUuid"]) ?? "")) {
          this.#takeName(textOf(value["summary"]) ?? "", type);
        } else this.#builder.drop("summary of another session");
        break;
      case "cost-state":
        if (!this.#costs.take(record)) this.#builder.drop("cost unchanged");
        break;
      default:
        if (DROPPED.has(type)) this.#builder.drop(type);
        else this.#keep(record, type);
    }
  }

  #takeName(name: string, type: keyof typeof NAME_RANKS): void {
    const rank = NAME_RANKS[type];
    if (rank < this.#nameRank) {
      this.#builder.drop("name that another one outranks");
      return;
    }
    this.#nameRank = rank;
    if (name === this.#name) {
      this.#builder.drop("name repeated");
      return;
    }
    this.#name = name;
    this.#builder.addName(`name ${this.#number++} ${name}`, name, type === "custom-title");
  }

  #keep(record: SourceRecord, type: string): void {
    const key = `note ${this.#number++} ${type}`;
    this.#builder.keepBehind(key, record.value["timestamp"], type || "record", dataOfRecord(record.value));
  }
}

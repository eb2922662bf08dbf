import { statSync } from "node:fs";
import { isFailure } from "../../view/entry-kind.ts";
import { usageOf } from "../../view/usage.ts";
import { SessionView } from "../session-view.ts";

/** What a list says of a session that only its bodies tell. */
export interface SessionFacts {
  /** Entries that say that a tool, a command or a model failed. */
  readonly failed: number;
  /** What its calls of models cost, in US dollars, with what a fork has from its parent: as its page tells it. */
  readonly cost: number;
}

/** Counts failures and costs of sessions, and remembers them until the file changes. */
export class FactsReader {
  readonly #known = new Map<string, { readonly stamp: string; readonly facts: SessionFacts }>();

  /**
   * @param path - Absolute path of a session.
   * @throws {SessionError} `NOT_A_SESSION` or `SESSION_NOT_FOUND`
   * @remarks Cost: O(bytes) the first time; O(1) while the file stays as it is.
   */
  factsOf(path: string): SessionFacts {
    const { size = 0, mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    const stamp = `${size}:${mtimeMs}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known.facts;
    const facts = readFacts(path);
    this.#known.set(path, { stamp, facts });
    return facts;
  }
}

function readFacts(path: string): SessionFacts {
  const session = SessionView.at(path);
  let [failed, cost] = [0, 0];
  session.readEntries(session.tree.ordinals(), (_, entry) => {
    if (isFailure(entry)) failed++;
    cost += usageOf(entry)?.cost ?? 0;
  });
  return { failed, cost };
}

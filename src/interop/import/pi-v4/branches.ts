import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { custom, type EntryBody } from "../entry-bodies.ts";
import { type Draft, entryIdOf, type SessionBuilder } from "../session-builder.ts";
import { issueAt } from "../source-text.ts";
import { textOf } from "../source-values.ts";

/** `customType` of the entry that names a branch, `{ name, leafId }`; the last one of a name counts. */
const BRANCH_TYPE = "pi-v4.branch";

/** Name of the branch on which pi goes on by custom. */
const MAIN = "main";

/** When a branch was written to. */
interface Moment {
  /** Number of the record. */
  readonly seq: unknown;
  /** Unix milliseconds. */
  readonly time: unknown;
}

/** A branch: where it ends, and the settings in force there. */
interface Branch extends Moment {
  readonly tip?: unknown;
  readonly config?: unknown;
}

/** The named branches of a session, or its lanes. */
export class Branches {
  /** The one written to last is the last one. */
  readonly #branches = new Map<string, Branch>();
  readonly #builder: SessionBuilder;

  constructor(builder: SessionBuilder) {
    this.#builder = builder;
  }

  /** Changes the tip or the settings of a branch, and makes it if it is new. */
  set(name: string, change: Partial<Pick<Branch, "tip" | "config">>, moment: Moment): void {
    const before = this.#branches.get(name);
    this.delete(name);
    this.#branches.set(name, { ...before, ...change, ...moment });
  }

  delete(name: string): void {
    const branch = this.#branches.get(name);
    if (branch === undefined) return;
    // A shorter version of the file ends here.
    for (const { key } of entriesOf(name, branch)) this.#builder.withdraw(entryIdOf(key));
    this.#branches.delete(name);
  }

  /** Adds the settings and the name of each branch at its tip. The leaf is that of `main`, else of the last written one. */
  emit(drafts: ReadonlyMap<string, Draft>): void {
    const main = this.#branches.get(MAIN);
    if (main !== undefined) {
      this.#branches.delete(MAIN);
      this.#branches.set(MAIN, main);
    }
    for (const [name, branch] of this.#branches) {
      // Without a tip it has only settings.
      if (branch.tip === undefined) continue;
      const tip = textOf(branch.tip);
      let last = tip === undefined ? undefined : drafts.get(tip);
      if (tip !== undefined && last === undefined) {
        const message = `Branch ${JSON.stringify(name)} ends at ${tip}, which is not there; it is named at the beginning.`;
        this.#builder.issues.push(issueAt("PARENT_MISSING", message));
      }
      for (const { key, body } of entriesOf(name, branch))
        last = this.#builder.add(key, last, branch.time, body);
    }
  }
}

/** Returns the entries that say what is in force at the tip of a branch, with their keys. */
function entriesOf(name: string, { tip, config, seq }: Branch): { key: string; body: EntryBody }[] {
  const { model, thinkingLevel, activeToolNames } = fieldsOf(config);
  const { provider, modelId } = fieldsOf(model);
  const bodies: EntryBody[] = [];
  if (typeof provider === "string" && typeof modelId === "string")
    bodies.push({ type: "model_change", provider, modelId });
  if (typeof thinkingLevel === "string") bodies.push({ type: "thinking_level_change", thinkingLevel });
  if (Array.isArray(activeToolNames)) bodies.push({ type: "active_tools_change", activeToolNames });
  bodies.push(custom(BRANCH_TYPE, { name, leafId: textOf(tip) ?? null }));
  return bodies.map((body) => ({ key: `pi-v4 ${body.type} ${name} ${String(seq)}`, body }));
}

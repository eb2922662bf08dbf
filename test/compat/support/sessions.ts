import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { AgentMessage, SessionContext, SessionManager } from "sessiontree";
import { removeFolder } from "../../support/remove-folder.ts";

/** Old enough that a write is detectable. */
const LONG_AGO = new Date("2020-02-02T02:02:02.000Z");

/** Temporary folder for one test, removed when the test ends. */
export class Workshop {
  readonly folder = mkdtempSync(join(tmpdir(), "sessiontree-compat-"));

  /** Copies a file to the folder, and makes the copy old. */
  copy(source: string): string {
    const path = join(this.folder, basename(source));
    copyFileSync(source, path);
    utimesSync(path, LONG_AGO, LONG_AGO);
    return path;
  }

  /** Creates a folder below this one. */
  makeFolder(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Returns everything that a write would change: names, bytes, and every time except the access time. */
  state(): object[] {
    return readdirSync(this.folder, { recursive: true, encoding: "utf8" })
      .sort()
      .map((name) => {
        const path = join(this.folder, name);
        const { ino, mode, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
        const bytes = statSync(path).isFile() ? readFileSync(path).toString("latin1") : "";
        return { name, ino, mode, size, mtimeNs, ctimeNs, bytes };
      });
  }

  [Symbol.dispose](): void {
    removeFolder(this.folder);
  }
}

/** Builds the context at every leaf and restores the leaf. */
export function contextsOfLeaves(session: SessionManager): Map<string, SessionContext> {
  const leafId = session.getLeafId();
  const contexts = new Map<string, SessionContext>();
  for (const { id } of session.getLeaves()) contexts.set(id, contextAt(session, id));
  if (leafId === null) session.resetLeaf();
  else session.branch(leafId);
  return contexts;
}

/** Moves the leaf, and builds the context there. */
export function contextAt(session: SessionManager, id: string): SessionContext {
  session.branch(id);
  const { messages, thinkingLevel, model } = session.buildSessionContext();
  return { messages: [...messages], thinkingLevel, model };
}

/** Joins all texts of a message. */
export function joinTexts(message: AgentMessage): string {
  if ("summary" in message) return message.summary;
  if (!("content" in message)) return "";
  const { content } = message;
  if (typeof content === "string") return content;
  return content.map((block) => ("text" in block ? block.text : "")).join("");
}

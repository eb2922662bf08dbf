import { formatCounted } from "../../core/facts/number-text.ts";
import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import type { ExportIssue } from "./exported-session.ts";

/** Reports the messages that are not on the path to a leaf. */
export function listBranchLosses(session: ReadonlySessionManager, leafId: string): ExportIssue[] {
  const path = new Set(session.getBranch(leafId).map(({ id }) => id));
  const others = session.getEntries().filter(({ type, id }) => type === "message" && !path.has(id));
  if (others.length === 0) return [];
  const count = formatCounted(others.length, "message");
  const message = `Left out ${count} that ${others.length === 1 ? "is" : "are"} not on this path.`;
  return [{ code: "BRANCHES_LEFT_OUT", index: -1, message }];
}

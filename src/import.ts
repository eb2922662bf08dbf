/**
 * Sessions of other programs: what their records mean here, and keeping their files up to date with sessions of ours.
 *
 * @module
 */

export {
  type ImportPreview,
  type ImportSessionsOptions,
  importSessions,
  previewImport,
  type SessionImport,
} from "./history/import-sessions.ts";
export type { Environment } from "./history/source-program.ts";
export type { SourceQuery } from "./history/source-query.ts";
export { sourceFolders } from "./history/source-table.ts";
export type { ImportStatus } from "./history/sync-plan.ts";
export { type ClaudeCodeInput, importClaudeCode } from "./import/claude-code/import-claude-code.ts";
export type { ClaudeSubagentText } from "./import/claude-code/subagents.ts";
export {
  type ClineDocument,
  type ClineInput,
  importCline,
  readClineText,
} from "./import/cline/import-cline.ts";
export { type CodexInput, importCodex } from "./import/codex/import-codex.ts";
export { type CodexRolloutText, readOldCodexText } from "./import/codex/rollout.ts";
export { type CopilotInput, importCopilot } from "./import/copilot/import-copilot.ts";
export type { CopilotRows } from "./import/copilot/stored-turns.ts";
export { type DetectedSource, detectSource } from "./import/detect-source.ts";
export { type GeminiInput, importGemini, readGeminiText } from "./import/gemini/import-gemini.ts";
export {
  type ImportCounts,
  type ImportedSession,
  SOURCE_NAMES,
  type SourceName,
  type SourceParent,
} from "./import/imported-session.ts";
export { importKimi, type KimiInput, type KimiWire, readKimiText } from "./import/kimi/import-kimi.ts";
export { importMessages, type MessagesInput } from "./import/messages/import-messages.ts";
export { importOpenCode, type OpenCodeInput } from "./import/opencode/import-opencode.ts";
export type { DeletedMessage } from "./import/opencode/stored-messages.ts";
export { importPi4, type Pi4Input } from "./import/pi-v4/import-pi4.ts";
export { readPi4Text } from "./import/pi-v4/read-pi4.ts";
export { importQwen, type QwenInput } from "./import/qwen/import-qwen.ts";
export { readSourceText, type SourceRecord, type SourceText } from "./import/source-text.ts";
export {
  type MessageDocument,
  type MessageForm,
  readMessageDocument,
} from "./schema/foreign-form.ts";

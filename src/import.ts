/**
 * Sessions of other programs: what their records mean here, and keeping their files up to date with sessions of ours.
 *
 * @module
 */

export {
  type MessageDocument,
  type MessageForm,
  readMessageDocument,
} from "./core/format/foreign-form.ts";
export {
  type ImportPreview,
  type ImportSessionsOptions,
  importSessions,
  previewImport,
  type SessionImport,
} from "./interop/history/import-sessions.ts";
export type { Environment } from "./interop/history/source-program.ts";
export type { SourceQuery } from "./interop/history/source-query.ts";
export { sourceFolders } from "./interop/history/source-table.ts";
export type { ImportStatus } from "./interop/history/sync-plan.ts";
export { type ClaudeCodeInput, importClaudeCode } from "./interop/import/claude-code/import-claude-code.ts";
export type { ClaudeSubagentText } from "./interop/import/claude-code/subagents.ts";
export {
  type ClineDocument,
  type ClineInput,
  importCline,
  readClineText,
} from "./interop/import/cline/import-cline.ts";
export { type CodexInput, importCodex } from "./interop/import/codex/import-codex.ts";
export { type CodexRolloutText, readOldCodexText } from "./interop/import/codex/rollout.ts";
export { type CopilotInput, importCopilot } from "./interop/import/copilot/import-copilot.ts";
export type { CopilotRows } from "./interop/import/copilot/stored-turns.ts";
export { type DetectedSource, detectSource } from "./interop/import/detect-source.ts";
export { type GeminiInput, importGemini, readGeminiText } from "./interop/import/gemini/import-gemini.ts";
export {
  type ImportCounts,
  type ImportedSession,
  SOURCE_NAMES,
  type SourceName,
  type SourceParent,
} from "./interop/import/imported-session.ts";
export {
  importKimi,
  type KimiInput,
  type KimiWire,
  readKimiText,
} from "./interop/import/kimi/import-kimi.ts";
export { importMessages, type MessagesInput } from "./interop/import/messages/import-messages.ts";
export { importOpenCode, type OpenCodeInput } from "./interop/import/opencode/import-opencode.ts";
export type { DeletedMessage } from "./interop/import/opencode/stored-messages.ts";
export { importPi4, type Pi4Input, readPi4Text } from "./interop/import/pi-v4/import-pi4.ts";
export { importQwen, type QwenInput } from "./interop/import/qwen/import-qwen.ts";
export { readSourceText, type SourceRecord, type SourceText } from "./interop/import/source-text.ts";

import { readMessageDocument } from "../../core/format/foreign-form.ts";
import { importAtif, readAtifText } from "./atif/import-atif.ts";
import { importClaudeCode } from "./claude-code/import-claude-code.ts";
import { importCline, readClineText } from "./cline/import-cline.ts";
import { importCodex } from "./codex/import-codex.ts";
import { readOldCodexText } from "./codex/rollout.ts";
import { importCopilot } from "./copilot/import-copilot.ts";
import { importGemini, readGeminiText } from "./gemini/import-gemini.ts";
import type { SourceName } from "./imported-session.ts";
import { importKimi, readKimiText } from "./kimi/import-kimi.ts";
import { importMessages } from "./messages/import-messages.ts";
import { importOpenCode } from "./opencode/import-opencode.ts";
import { importPi4, readPi4Text } from "./pi-v4/import-pi4.ts";
import { importQwen } from "./qwen/import-qwen.ts";
import { readSourceText } from "./source-text.ts";

/**
 * Importers by program. `read` parses a file's text into records, and `convert` converts records to entries. Neither reads or
 * writes files. OpenCode keeps its records in a database, so its importer has no `read`.
 *
 * @remarks Source: docs/import-records.md
 */
export const importers = Object.freeze({
  atif: { read: readAtifText, convert: importAtif },
  "claude-code": { read: readSourceText, convert: importClaudeCode },
  cline: { read: readClineText, convert: importCline },
  codex: { read: (text: string) => readOldCodexText(text) ?? readSourceText(text), convert: importCodex },
  copilot: { read: readSourceText, convert: importCopilot },
  gemini: { read: readGeminiText, convert: importGemini },
  kimi: { read: readKimiText, convert: importKimi },
  messages: { read: readMessageDocument, convert: importMessages },
  opencode: { convert: importOpenCode },
  "pi-v4": { read: readPi4Text, convert: importPi4 },
  qwen: { read: readSourceText, convert: importQwen },
}) satisfies { readonly [name in SourceName]: { readonly convert: unknown } };

/** Input of a program's importer: the records of one session. */
export type ImportInput<Name extends SourceName> = Parameters<(typeof importers)[Name]["convert"]>[0];

/**
 * sessiontree/mcp: past sessions as a memory that agents ask over the Model Context Protocol.
 *
 * @module
 */

export type { RecallOptions } from "./mcp/recall-options.ts";
export { addRecall, recallServer } from "./mcp/recall-server.ts";
export type { HideSecrets } from "./recall/cleaner.ts";
export { secretPatterns } from "./recall/secret-patterns.ts";

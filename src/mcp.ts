/**
 * sessiontree/mcp: past sessions as memory that agents query over the Model Context Protocol.
 *
 * @module
 */

export type { RecallOptions } from "./apps/mcp/recall-options.ts";
export { addRecall, recallServer } from "./apps/mcp/recall-server.ts";
export type { HideSecrets } from "./apps/recall/cleaner.ts";
export { secretPatterns } from "./apps/recall/cleaner.ts";

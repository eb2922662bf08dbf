import { createRequire } from "node:module";
import { isJsonRecord } from "../../core/format/json.ts";
import { hasErrorCode } from "./file-system.ts";

/**
 * Returns the version in our own package.json, which both the sources and the build find by the package's name; `unknown` in a
 * bundle of a host, which does not have it beside it.
 */
export function getPackageVersion(): string {
  try {
    const facts: unknown = createRequire(import.meta.url)("sessiontree/package.json");
    return isJsonRecord(facts) && typeof facts["version"] === "string" ? facts["version"] : "unknown";
  } catch (error) {
    if (hasErrorCode(error, "MODULE_NOT_FOUND")) return "unknown";
    throw error;
  }
}

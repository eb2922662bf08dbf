import { createRequire } from "node:module";
import { isJsonRecord } from "../../core/format/json.ts";
import { hasErrorCode } from "./file-system.ts";

/**
 * Returns the version from this package's package.json, which both the sources and the build resolve by the package's name.
 * Returns `unknown` in a host's bundle, which does not include that file.
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

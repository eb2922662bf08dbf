import { createRequire } from "node:module";
import { isJsonRecord } from "../schema/json.ts";

/** Returns the version in our own package.json, which both the sources and the build find by the package's name. */
export function packageVersion(): string {
  const facts: unknown = createRequire(import.meta.url)("sessiontree/package.json");
  return isJsonRecord(facts) && typeof facts["version"] === "string" ? facts["version"] : "unknown";
}

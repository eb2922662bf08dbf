/**
 * Validation of entries and headers. A separate module, so that the rest of the package does not load zod.
 *
 * @module
 */

export { type Validation, validateEntry, validateHeader } from "./core/format/validate.ts";

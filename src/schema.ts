/**
 * Validation of entries and headers, apart since nothing else of the package loads zod.
 *
 * @module
 */

export { type Validation, validateEntry, validateHeader } from "./core/format/validate.ts";

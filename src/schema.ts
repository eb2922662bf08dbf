/**
 * Validation of entries and headers. Loads zod.
 *
 * @module
 */

export { type Validation, validateEntry, validateHeader } from "./schema/validate.ts";

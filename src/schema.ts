/**
 * Validation of entries and headers; a separate module because nothing else in the package loads zod.
 *
 * @module
 */

export { type Validation, validateEntry, validateHeader } from "./core/format/validate.ts";

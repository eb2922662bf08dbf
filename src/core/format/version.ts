/**
 * Version of the session format that this library writes.
 *
 * @remarks Source: docs/format.md#versions
 */
export const CURRENT_SESSION_VERSION = 3;

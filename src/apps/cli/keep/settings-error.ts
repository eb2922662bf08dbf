/** Settings of another program that are left alone; the message says why, and what to do. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

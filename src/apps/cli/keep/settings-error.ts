/** Settings of another program that are left alone; the message is the reason, as a clause. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

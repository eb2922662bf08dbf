/** Error for settings of another program that are not changed; the message is the reason, as a clause. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

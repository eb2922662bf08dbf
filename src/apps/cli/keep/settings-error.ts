/** Error for another program's settings that were not changed; the message states the reason as a clause. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

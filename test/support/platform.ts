/** Whether the tests run on Windows, where some cannot hold. */
export const IS_WINDOWS = process.platform === "win32";

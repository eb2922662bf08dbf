/** Whether the tests run on Windows, where some cannot hold. */
export const IS_WINDOWS = process.platform === "win32";

/** Whether what child processes say can be heard: not under Wine, which `test/windows/run.sh` uses. */
export const HAS_PIPES = process.env["SESSIONTREE_TEST_WINE"] === undefined;

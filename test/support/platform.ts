/** Whether the tests run on Windows, where some cannot hold. */
export const IS_WINDOWS = process.platform === "win32";

/** Whether that is Wine, as in `test/windows/run.sh`: it has neither pipes between processes nor creation times of files. */
export const IS_WINE = process.env["SESSIONTREE_TEST_WINE"] !== undefined;

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProgram } from "../../../src/apps/cli/start-program.ts";
import { UsageError } from "../../../src/apps/cli/usage-error.ts";
import { makeWindowsProgram } from "../../../src/apps/cli/windows-program.ts";
import { IS_WINDOWS } from "../../support/platform.ts";
import { temporaryFolder } from "./support/cli.ts";

/** A folder with a batch file that starts Node with a script, as npm writes it. */
function installProgram(script: string) {
  const folder = temporaryFolder();
  const [path, code] = [join(folder, "agent.cmd"), join(folder, "agent.mjs")];
  writeFileSync(path, `@ECHO off\r\n"${process.execPath}" "${code}" %*\r\n`);
  writeFileSync(code, script);
  const env = { PATH: folder, PATHEXT: ".COM;.EXE;.BAT;.CMD".toLowerCase(), ComSpec: "cmd.exe" };
  return { folder, path, env };
}

test("a batch file is run by cmd.exe, with every argument in quotation marks", () => {
  const { path, env } = installProgram("");
  const folder = "C:\\my folder\\";
  expect(makeWindowsProgram(["agent", "resume", folder, "a&b"], env)).toEqual({
    file: "cmd.exe",
    args: ["/d", "/s", "/v:off", "/c", `""${path}" "resume" "C:\\my folder\\\\" "a&b""`],
    isQuoted: true,
  });
  expect(makeWindowsProgram([path], env).isQuoted).toBe(true);
  const missing = { file: "other", args: ["a"], isQuoted: false };
  expect(makeWindowsProgram(["other", "a"], env)).toEqual(missing);
});

test.each(["a%PATH%", 'a" & calc "', "a\nb", "wow!"])("%j is not passed to a batch file", (argument) => {
  const { env } = installProgram("");
  expect(() => makeWindowsProgram(["agent", argument], env)).toThrow(UsageError);
  expect(makeWindowsProgram(["agent.exe", argument], env).args).toEqual([argument]);
});

test.runIf(IS_WINDOWS)(
  "a batch file gets its arguments unchanged, and its exit code is returned",
  async () => {
    const { folder, path } = installProgram(
      `import { writeFileSync } from "node:fs";
     writeFileSync("called.json", JSON.stringify(process.argv.slice(2)));
     process.exitCode = 7;`,
    );
    const args = ["resume", "two  words", "a&b|c^d", "(e)", "C:\\folder\\", "ä"];
    const warn = (message: string) => expect.fail(message);
    expect(await startProgram({ warn }, [path, ...args], folder)).toBe(7);
    expect(JSON.parse(readFileSync(join(folder, "called.json"), "utf8"))).toEqual(args);
  },
);

import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { inspect } from "node:util";
import { SessionError, SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import { ROOT, TARGET } from "./support/repository.ts";

/** Returns the files in the stack of an error that the package throws. */
function filesInStack(): string[] {
  try {
    SessionManager.open(join(ROOT, "package.json"));
  } catch (error) {
    if (!(error instanceof SessionError)) throw error;
    const paths = error.stack?.matchAll(/(?:file:\/\/)?(\/[^\s:()]+):\d+:\d+/g) ?? [];
    return Array.from(paths, ([, path = ""]) => path).filter((path) => dirname(path).startsWith(ROOT));
  }
  throw new Error("package.json is no session");
}

test("tests import the build when they are to test the build, otherwise the sources", () => {
  const [first = ""] = filesInStack();
  expect(realpathSync(first).startsWith(join(realpathSync(ROOT), TARGET))).toBe(true);
});

test("the class name of a session is visible", () => {
  expect(SessionManager.name).toBe("SessionManager");
  expect(inspect(SessionManager.inMemory("/project"))).toMatch(/^SessionManager /);
});

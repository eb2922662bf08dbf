import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findGeminiProject, makeProjectName } from "../../../src/interop/continue/gemini-project.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Creates Gemini CLI's folder with its list of projects, and a project's folder. */
function makeHome(getProjects: (cwd: string) => object) {
  const home = temporaryFolder();
  const cwd = join(realpathSync(temporaryFolder()), "My App");
  mkdirSync(cwd);
  writeFileSync(join(home, "projects.json"), JSON.stringify({ projects: getProjects(cwd) }));
  return { home, cwd };
}

test("takes a project's folder from the program's list, even through a symbolic link", () => {
  const { home, cwd } = makeHome((folder) => ({ [folder]: "my-app-1" }));
  expect(findGeminiProject(home, cwd)).toBe("my-app-1");
  const link = join(temporaryFolder(), "link");
  symlinkSync(cwd, link, "junction");
  expect(findGeminiProject(home, link)).toBe("my-app-1");
});

test("gives a project without a folder the one that the program will create", () => {
  const { home, cwd } = makeHome(() => ({}));
  expect(findGeminiProject(home, cwd)).toBe("my-app");
  expect(findGeminiProject(temporaryFolder(), cwd)).toBe("my-app");
});

test("refuses a name that another project has until the program has chosen one", () => {
  const error = expect.objectContaining({
    code: "NOT_A_SESSION",
    message: expect.stringContaining("once, and try again"),
  });
  const { home, cwd } = makeHome(() => ({ "/elsewhere/my-app": "my-app" }));
  expect(() => findGeminiProject(home, cwd)).toThrow(error);
  const owned = makeHome(() => ({}));
  mkdirSync(join(owned.home, "tmp/my-app"), { recursive: true });
  const root = join(owned.home, "tmp/my-app/.project_root");
  writeFileSync(root, "/elsewhere/my-app");
  expect(() => findGeminiProject(owned.home, owned.cwd)).toThrow(error);
  writeFileSync(root, owned.cwd);
  expect(findGeminiProject(owned.home, owned.cwd)).toBe("my-app");
});

test("ignores a listed name that resolves outside the folder", () => {
  const { home, cwd } = makeHome((folder) => ({ [folder]: "../../x" }));
  expect(findGeminiProject(home, cwd)).toBe("my-app");
});

test.each([
  ["/home/ada/My App", "my-app"],
  ["/home/ada/a_b.c/", "a-b-c"],
  ["C:\\Users\\ada\\App", "app"],
  ["/", "project"],
])("names the folder of %s %s", (cwd, name) => {
  expect(makeProjectName(cwd)).toBe(name);
});

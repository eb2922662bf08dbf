import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { installPackage } from "../support/registry-package.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { ROOT, readText } from "./support/repository.ts";
import { install } from "./support/run-programs.ts";

/** Script that check-tarball.ts runs with Node. */
const SMOKE = "test/tools/consumer/run.mjs";

const { arch, platform } = process;

/** Folders that a program in `home` reads and writes: its own, and those of the package. */
const granted = (home: string) => `${home},${folder},${ROOT}`;

/** Runtimes other than Node: the npm package with the binary for this system, the binary, and its arguments for a script. */
const RUNTIMES = [
  {
    name: "Bun 1.4",
    spec: `@oven/bun-${platform === "win32" ? "windows" : platform}-${arch === "arm64" ? "aarch64" : arch}@1.4`,
    binary: "bin/bun",
    options: () => [],
  },
  {
    name: "Deno 2.9",
    spec: `@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}@2.9`,
    binary: "deno",
    // The permissions that docs/durability.md names.
    options: (home: string) => [
      ...["run", "--no-prompt", `--allow-read=${granted(home)}`, `--allow-write=${home}`],
      ...["--allow-env", "--allow-sys=hostname,homedir,uid"],
    ],
  },
] as const;

let folder = "";
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sessiontree-runtimes-")));
  writeFileSync(join(folder, "package.json"), '{"name":"consumer","private":true,"type":"module"}');
  await install(folder);
});
afterAll(() => removeFolder(folder));

test.for(RUNTIMES)("$name runs the script that Node runs", ({ spec, binary, options }, { skip }) => {
  if (!process.env["SESSIONTREE_WITH_REGISTRY"]) return skip("set SESSIONTREE_WITH_REGISTRY=1");
  const installed = installPackage(folder, spec);
  if ("reason" in installed) {
    // The reporter prints no reason.
    process.stderr.write(`skipped: ${installed.reason}\n`);
    return skip(installed.reason);
  }
  const home = mkdtempSync(join(folder, "home-"));
  onTestFinished(() => removeFolder(home));
  const script = join(folder, "run.mjs");
  writeFileSync(script, readText(SMOKE));
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, [...args, script], {
      cwd: home,
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        SystemRoot: process.env["SystemRoot"],
        HOME: home,
        USERPROFILE: home,
      },
    }).trim();
  const reread = `import { SessionManager } from "sessiontree";
    console.log(SessionManager.open(process.argv[1]).getLeaves().length);`;
  const session = run(join(installed.home, binary), options(home));
  const node = ["--input-type=module", "--eval", reread, session];
  expect(execFileSync(process.execPath, node, { cwd: folder, encoding: "utf8" }).trim()).toBe("2");
});

test("the documents name these releases", () => {
  const faq = readText("docs/faq.md");
  expect(RUNTIMES.filter(({ name }) => !faq.includes(name))).toEqual([]);
});

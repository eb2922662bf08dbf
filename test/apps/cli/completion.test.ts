import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../src/apps/cli/commands.ts";
import { answerShell } from "../../../src/apps/cli/completion/answer-shell.ts";
import { completeLine } from "../../../src/apps/cli/completion/candidates.ts";
import { PROGRAM } from "../../support/program.ts";
import { cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe, writeLines } from "./support/sessions.ts";
import { folderWithTrash } from "./support/trash.ts";

const FIRST = "0198aaaa-0000-7000-8000-000000000001";
const SECOND = "0198bbbb-0000-7000-8000-000000000002";

/** A folder with two sessions. */
function twoSessions(folder = temporaryFolder()) {
  for (const [id, text] of [
    [FIRST, "Fix: the totals"],
    [SECOND, "Write \u001b[2Ja\nletter"],
  ] as const)
    new Scribe(folder, id).user(text);
  return folder;
}

async function values(...words: string[]): Promise<string[]> {
  return completeLine(words, COMMANDS).words.map(({ value }) => value);
}

describe("completions without the command", () => {
  test.each(["bash", "zsh", "fish"])("%s: same as by the command", async (shell) => {
    const folder = twoSessions();
    const path = new Scribe(join(folder, "more"), FIRST).path;
    const env = { PI_CODING_AGENT_SESSION_DIR: folder };
    for (const words of [
      ["re"],
      ["tree", "--"],
      ["show", ""],
      ["show", "0198"],
      ["show", path, ""],
      ["show", "none", ""],
    ]) {
      const given = [shell, "--", ...words];
      const written: string[] = [];
      const stream = { write: (text: string) => written.push(text) };
      const code = await answerShell(given, { stdout: stream, stderr: stream, env, cwd: folder });
      const { stdout } = await cli(["completion", ...given], { env, cwd: folder });
      expect([code, written.join("")], words.join(" ")).toEqual([0, stdout]);
    }
  });

  test("other input is passed to the command", async () => {
    const stream = { write: () => undefined };
    const io = { stdout: stream, stderr: stream, env: {}, cwd: "/" };
    for (const given of [[], ["bash"], ["bash", "--"], ["tcsh", "--", "x"]])
      expect(await answerShell(given, io)).toBeUndefined();
  });
});

describe("the completion of the last word", () => {
  test("is a command first", async () => {
    expect(await values("")).toEqual([...new Set(COMMANDS.map(({ name }) => name.split(" ")[0])), "help"]);
    expect(await values("re")).toEqual(expect.arrayContaining(["redact", "repair", "restore"]));
    expect(await values("re")).not.toContain("rm");
    expect(await values("--v")).toEqual(["--version"]);
    expect(await values("help", "tre")).toEqual(["tree"]);
    expect(await values("help", "tree", "")).toEqual([]);
    expect(await values("bogus", "")).toEqual([]);
  });

  test("is an option not given yet", async () => {
    expect(await values("tree", "x", "--")).toEqual([
      "--all",
      "--records",
      "--tail",
      "--follow",
      "--pretty",
      "--json",
      "--dir",
      "--store",
      "--help",
    ]);
    expect(await values("tree", "x", "--all", "--a")).toEqual([]);
  });

  test.each([
    [["tree", ""], "sessions"],
    [["verify", "a", "b", ""], "sessions"],
    [["tree", "--all", ""], "sessions"],
    [["restore", ""], "trashed"],
    [["tree", "a", ""], undefined],
    [["search", ""], undefined],
    [["search", "text", ""], "sessions"],
    [["show", "x", ""], "entries"],
    [["context", "x", "--leaf", ""], "entries"],
    [["diff", "x", "a", ""], "entries"],
    [["tree", "--dir", ""], undefined],
    [["export", "-o", ""], undefined],
    [["export", "-o", "x", ""], "sessions"],
    [["export", "--output", "x", ""], "sessions"],
    [["tree", "--", ""], undefined],
  ])("of %j is one of: %s", async (words, lookUp) => {
    expect(completeLine(words, COMMANDS).lookUp).toBe(lookUp);
  });

  test("uses the folder given on the line", async () => {
    expect(completeLine(["tree", "--dir", "/projects/a", ""], COMMANDS)).toMatchObject({
      dir: "/projects/a",
    });
  });

  test("can be an entry or a shell", async () => {
    expect(await values("fork", "@last", "")).toEqual(["@leaf"]);
    expect(await values("completion", "")).toEqual(["bash", "zsh", "fish"]);
  });

  test("is a value of an option, also after a comma", async () => {
    expect(await values("list", "--source", "cla")).toEqual(["claude-code"]);
    expect(await values("search", "x", "--branch", "")).toEqual(["active", "any"]);
    expect(await values("search", "x", "--role", "user,as")).toEqual(["user,assistant"]);
    expect(await values("stats", "--since", "3")).toEqual(["30d"]);
  });
});

describe("sessiontree completion", () => {
  test("prints the IDs of sessions with their titles, in each shell's format", async () => {
    const dir = twoSessions();
    const lines = async (shell: string, ...words: string[]) =>
      (await cli(["completion", shell, "--dir", dir, "--", ...words])).lines.sort();
    expect(await lines("bash", "tree", "")).toEqual([FIRST, SECOND, "@last"]);
    expect(await lines("bash", "tree", "0198b")).toEqual([SECOND]);
    expect(await lines("fish", "tree", "0198")).toEqual([
      `${FIRST}\tFix: the totals`,
      `${SECOND}\tWrite ␛[2Ja letter`,
    ]);
    expect(await lines("zsh", "tree", "0198a")).toEqual([`${FIRST}:Fix\\: the totals`]);
    const json = await cli(["completion", "bash", "--json", "--", "tree", "--dir", dir, "0198a"]);
    expect(jsonLines(json)).toEqual([{ value: FIRST, description: "Fix: the totals" }]);
  });

  test("prints names, and the rest of names that begin as typed; the ID if a shell would have to quote the name", async () => {
    const folder = temporaryFolder();
    for (const [i, name] of [
      "Checkout rounding",
      "Ärger mit Ümläuten",
      "Same",
      "Same",
      "$(reboot) now",
    ].entries()) {
      const scribe = new Scribe(folder, `0198-${i}`);
      scribe.user("Go on.");
      scribe.session.appendSessionInfo(name);
    }
    const words = async (typed: string) =>
      (await cli(["completion", "bash", "--dir", folder, "--", "show", typed])).lines
        .filter((word) => word !== "@last")
        .sort();
    const all = await words("");
    expect(all).toEqual([
      expect.stringMatching(/^0198-[23]$/),
      "0198-4",
      "Checkout rounding",
      "Same",
      "Ärger mit Ümläuten",
    ]);
    expect(await words("0198-0")).toEqual(["0198-0"]);
    expect(await words("check")).toEqual(["checkout rounding"]);
    for (const [typed, id] of [
      ["round", "0198-0"],
      ["ümlä", "0198-1"],
    ] as const) {
      const [word = "", ...others] = await words(typed);
      expect([word.startsWith(typed), others]).toEqual([true, []]);
      expect((await cli(["show", word, "--dir", folder])).stdout).toContain(id);
    }
    expect(await words("now")).toEqual(["now"]);
    expect(await words("ound")).toEqual([""]);
    const { lines } = await cli(["completion", "zsh", "--dir", folder, "--", "show", "Check"]);
    expect(lines).toEqual(["Checkout rounding:0198-0"]);
  });

  test("prints no ID that a shell could read as a command", async () => {
    const dir = temporaryFolder();
    for (const id of ["$(reboot)", "a;b", "a b", "`x`", "-rf", "good"]) {
      const header = { type: "session", version: 3, id, timestamp: "2026-02-03T22:00:00.000Z", cwd: dir };
      writeLines(dir, `${Buffer.from(id).toString("hex")}.jsonl`, []);
      writeFileSync(join(dir, `${Buffer.from(id).toString("hex")}.jsonl`), `${JSON.stringify(header)}\n`);
    }
    const { lines } = await cli(["completion", "bash", "--dir", dir, "--", "tree", ""]);
    expect(lines.sort()).toEqual(["@last", "good"]);
  });

  test.runIf(process.platform === "linux")("prints the IDs in the trash for restore", async () => {
    const dir = twoSessions(folderWithTrash());
    await cli(["rm", FIRST, "--dir", dir, "--yes"]);
    expect((await cli(["completion", "bash", "--", "restore", "0"])).lines).toEqual([FIRST]);
  });

  test("supports three shells, and lists them", async () => {
    const { code, stderr } = await cli(["completion", "tcsh"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("must be bash, zsh or fish")]);
  });
});

/** Returns whether a program can be started. */
function isInstalled(program: string): boolean {
  return spawnSync(program, ["--version"]).status === 0;
}

/** Creates a folder with the program under its name, for a shell to find; returns the environment for it. */
function programOnPath(folder: string): NodeJS.ProcessEnv {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "sessiontree"), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(join(bin, "sessiontree"), 0o755);
  return {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env["PATH"]}`,
    PI_CODING_AGENT_SESSION_DIR: folder,
  };
}

/** Returns what bash does with each line when the Tab key is pressed at its end. */
const PRESS_TAB = `
eval "$(sessiontree completion bash)"
[[ $(complete -p sessiontree) == "complete -o default -F _sessiontree sessiontree" ]] || exit 9
while IFS= read -r line; do
  COMP_LINE=$line COMP_POINT=\${#line}
  _sessiontree sessiontree
  printf '%s|' "\${COMPREPLY[@]}"
  echo
done
`;

describe.runIf(isInstalled("bash"))("the script for bash (tested if bash is installed)", () => {
  test("completes input by calling the program", () => {
    const folder = twoSessions();
    const named = new Scribe(folder, "named");
    named.user("Go on.");
    named.session.appendSessionInfo("Checkout it's rounding up");
    const env = programOnPath(folder);
    const typed = [
      "sessiontree tre",
      "sessiontree tree @",
      "sessiontree tree 0198a",
      "sessiontree tree x --j",
      "sessiontree tree rounding\\ ",
      "sessiontree tree rounding\\ u",
    ];
    const lines = [...typed, "sessiontree  completion   ", "sessiontree tree ./fi"];
    const output = execFileSync("bash", ["--norc", "--noprofile", "-c", PRESS_TAB], {
      env,
      input: `${lines.join("\n")}\n`,
      encoding: "utf8",
    });
    expect(output.split("\n")).toEqual([
      "tree|",
      "@last|",
      `${FIRST}|`,
      "--json|",
      "rounding\\ up|",
      "rounding\\ up|",
      "bash|zsh|fish|",
      "|",
      "",
    ]);
  });
});

test.runIf(isInstalled("zsh"))("the script for zsh is valid (tested if zsh is installed)", async () => {
  const { stdout } = await cli(["completion", "zsh"]);
  execFileSync("zsh", ["-n"], { input: stdout });
});

test.runIf(isInstalled("fish"))(
  "the script for fish completes input (tested if fish is installed)",
  async () => {
    const folder = twoSessions();
    const scribe = new Scribe(folder, "named");
    scribe.user("Go on.");
    scribe.session.appendSessionInfo("Checkout rounding");
    const script = join(folder, "completion.fish");
    writeFileSync(script, (await cli(["completion", "fish"])).stdout);
    execFileSync("fish", ["--no-execute", script]);
    const typed = (line: string) => `complete -C '${line}'`;
    const lines = ["tree Check", "tree Checkout\\\\ r", "tree --js"].map((line) =>
      typed(`sessiontree ${line}`),
    );
    const env = { ...programOnPath(folder), HOME: folder };
    const output = execFileSync("fish", ["--no-config", "-c", `source ${script}; ${lines.join("; ")}`], {
      env,
      encoding: "utf8",
    });
    expect(output.split("\n").map((line) => line.split("\t")[0])).toEqual([
      "Checkout rounding",
      "Checkout rounding",
      "--json",
      "",
    ]);
  },
);

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { realFileSystem } from "../../../../src/session/fs/file-system.ts";
import { BACKUP, CLAUDE, getState, HOOK, makeClaudeHome, makeHome, SETTINGS } from "../support/keep-home.ts";

describe("edited hooks", () => {
  test("--off removes its hooks from settings edited in the meantime, and keeps both copies", async () => {
    const { put, read, keep, list } = makeClaudeHome();
    await keep("--yes");
    put(CLAUDE, read(CLAUDE).replace("opus", "sonnet"));
    const { code, stdout } = await keep("--off --yes");
    expect([code, stdout]).toEqual([0, expect.stringContaining("A copy is kept: ")]);
    expect(read(CLAUDE)).toBe(SETTINGS.replace("opus", "sonnet"));
    expect(list(".claude")).toEqual([
      "settings.json",
      "settings.json.sessiontree-backup",
      "settings.json.sessiontree-backup.1",
    ]);
  });

  test("--off leaves manual changes, and reports them each time until they are removed", async () => {
    const home = makeClaudeHome();
    const { put, read, keep, list } = home;
    await keep("--yes");
    put(CLAUDE, read(CLAUDE).replace('"timeout": 20', '"timeout": 60'));
    expect(await getState(home)).toBe("changed");
    const changed = read(CLAUDE);
    expect(await keep("--yes")).toMatchObject({ code: 0, stderr: "There is nothing to do.\n" });
    expect(read(CLAUDE)).toBe(changed);
    const { code, stderr } = await keep("--off --yes");
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("were changed by hand; remove those by hand"),
    ]);
    const left = read(CLAUDE);
    expect(JSON.parse(left.replace(/ \/\/.*/g, ""))).toEqual({
      model: "opus",
      hooks: {
        Stop: [
          { hooks: [{ type: "command", command: "say done" }] },
          { hooks: [{ type: "command", command: HOOK, timeout: 60 }] },
        ],
      },
      cleanupPeriodDays: 99,
    });
    const files = list(".claude");
    expect(await keep("--off --yes")).toMatchObject({ code: 1 });
    expect([read(CLAUDE), list(".claude")]).toEqual([left, files]);
    put(CLAUDE, SETTINGS);
    const gone = await keep("--off --yes");
    expect(gone).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringContaining("No hooks of keep were left"),
    });
  });

  test("a group to which the user added a hook stays", async () => {
    const { put, read, keep } = makeClaudeHome("{}");
    await keep("--yes");
    const edited: { hooks: { Stop: { hooks: object[] }[] } } = JSON.parse(read(CLAUDE));
    edited.hooks.Stop[0]?.hooks.push({ type: "command", command: "mine" });
    put(CLAUDE, JSON.stringify(edited));
    expect(await keep("--off --yes")).toMatchObject({ code: 1 });
    expect(JSON.parse(read(CLAUDE))).toEqual({ hooks: { Stop: edited.hooks.Stop } });
  });

  test("hooks set up by hand are neither doubled nor removed", async () => {
    const settings = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "command", command: HOOK }] }] } });
    const home = makeClaudeHome(settings);
    const { read, keep } = home;
    expect(await keep("--yes")).toMatchObject({ code: 0, stderr: "There is nothing to do.\n" });
    expect(await getState(home)).toBe("by hand");
    expect(await keep("--off --yes")).toMatchObject({ code: 0 });
    expect(read(CLAUDE)).toBe(settings);
  });

  test("hooks removed by hand are installed again on request; a deleted file is created", async () => {
    const home = makeClaudeHome();
    const { put, read, keep } = home;
    await keep("--yes");
    put(CLAUDE, SETTINGS);
    expect(await getState(home)).toBe("absent");
    await keep("--yes");
    expect(await getState(home)).toBe("installed");
    rmSync(join(home.home, CLAUDE));
    expect(await getState(home)).toBe("absent");
    await keep("--yes");
    expect(read(CLAUDE)).toContain(HOOK);
    await keep("--off --yes");
    expect(existsSync(join(home.home, CLAUDE))).toBe(false);
  });

  test("an installation interrupted before its write is repeated, with the copy it made", async () => {
    const { put, read, keep, list, record } = makeClaudeHome();
    await keep("--yes");
    const [installed, noted] = [read(CLAUDE), readFileSync(record, "utf8")];
    put(CLAUDE, SETTINGS);
    expect(await keep("--yes")).toMatchObject({ code: 0, stdout: expect.stringContaining(BACKUP) });
    expect([read(CLAUDE), readFileSync(record, "utf8")]).toEqual([installed, noted]);
    expect(list(".claude")).toEqual(["settings.json", "settings.json.sessiontree-backup"]);
    // And an interrupted one has nothing to be removed.
    put(CLAUDE, SETTINGS);
    expect(await keep("--off --yes")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("No hooks of keep"),
    });
    expect(list(".claude")).toEqual(["settings.json"]);
    expect(read(CLAUDE)).toBe(SETTINGS);
  });

  test("hooks that call the program in another way are replaced, and --off still restores the file", async () => {
    const home = makeClaudeHome();
    const { read, keep } = home;
    await keep("--yes");
    expect(await keep("--yes --dir old")).toMatchObject({ code: 0 });
    expect(read(CLAUDE).split(`${HOOK} --dir `)).toHaveLength(4);
    expect(await getState(home)).toBe("outdated");
    await keep("--off --yes");
    expect(read(CLAUDE)).toBe(SETTINGS);
  });

  test("objects created by keep are removed after a replacement, too", async () => {
    const { put, read, keep } = makeClaudeHome('{"a": 1}');
    const edit = (change: (hooks: { [event: string]: unknown }) => void) => {
      const settings: { hooks: { [event: string]: unknown } } = JSON.parse(read(CLAUDE));
      change(settings.hooks);
      put(CLAUDE, JSON.stringify(settings));
    };
    await keep("--yes");
    edit((hooks) => {
      hooks["Other"] = [1];
    });
    await keep("--yes --dir old");
    edit((hooks) => {
      delete hooks["Other"];
    });
    expect(await keep("--off --yes")).toMatchObject({ code: 0 });
    expect(JSON.parse(read(CLAUDE))).toEqual({ a: 1 });
  });

  test("an installation that fails leaves nothing", async () => {
    const home = makeClaudeHome();
    const { read, keep, list, record } = home;
    const rename = vi.spyOn(realFileSystem, "renameSync").mockImplementation(() => {
      throw Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" });
    });
    const { code, stderr } = await keep("--yes");
    rename.mockRestore();
    expect([code, stderr]).toEqual([1, expect.stringContaining("the system refuses it (EROFS: read-only")]);
    expect([read(CLAUDE), list(".claude"), existsSync(record)]).toEqual([SETTINGS, ["settings.json"], false]);
  });

  test("another script of Cline stays, and so does a changed one", async () => {
    const { home, put, read, keep } = makeHome();
    const script = ".cline/hooks/TaskComplete";
    put(".cline/data/settings.json", "{}");
    put(script, "#!/bin/sh\nsay done\n");
    expect(await keep("--yes")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`add "${HOOK}" to it`),
    });
    expect(read(script)).toBe("#!/bin/sh\nsay done\n");
    put(script, `#!/bin/sh\n${HOOK}\n`);
    expect((await keep("cline --status")).stdout).toContain("set up by hand");
    rmSync(join(home, script));
    await keep("--yes");
    put(script, `${read(script)}say done\n`);
    expect((await keep("cline --status")).stdout).toContain("changed by hand");
    expect(await keep("--off --yes")).toMatchObject({ code: 1 });
    expect(read(script)).toContain("say done");
    put(script, "#!/bin/sh\nsay done\n");
    expect(await keep("--off --yes")).toMatchObject({ code: 0 });
    expect(read(script)).toBe("#!/bin/sh\nsay done\n");
  });

  test("--off leaves settings unchanged that do not parse anymore", async () => {
    const { put, read, keep, record } = makeClaudeHome();
    await keep("--yes");
    const broken = read(CLAUDE).slice(0, -3);
    put(CLAUDE, broken);
    const { code, stderr } = await keep("--off --yes");
    expect([code, stderr]).toEqual([1, expect.stringContaining('run "sessiontree keep --off" again')]);
    expect([read(CLAUDE), existsSync(record)]).toEqual([broken, true]);
  });

  test("a damaged record is reported, and nothing is edited", async () => {
    const { read, keep, record } = makeClaudeHome();
    await keep("--yes");
    const installed = read(CLAUDE);
    writeFileSync(record, '{"version": 1, "hooks": [{"path": 1}]}');
    for (const line of ["--off --yes", "--yes"]) {
      const { code, stderr } = await keep(line);
      expect([code, stderr]).toEqual([1, expect.stringContaining("keep.json cannot be read: it is damaged")]);
      expect(read(CLAUDE)).toBe(installed);
    }
  });
});

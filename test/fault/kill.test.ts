import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { SessionManager } from "sessiontree";
import { fileStore } from "sessiontree/stores";
import { describe, expect, test } from "vitest";
import { sampledCalls, scaleCount } from "../support/share.ts";
import { Children } from "./support/children.ts";
import { litter, names, place, sandbox } from "./support/sandbox.ts";
import { getIds, getTexts, header, lines, onDisk, user, VERSION_1 } from "./support/sessions.ts";

const children = new Children();

const ROUNDS = scaleCount(220);

/** A number that looks random and is the same at every run. */
function scattered(round: number, below: number): number {
  return (Math.imul(round + 1, 0x9e3779b1) >>> 0) % below;
}

/** Lets a child append and kills it in the middle; gives the ids that it has said. */
async function killAppending(path: string, round: number, json: string): Promise<string[]> {
  const child = children.start("appendForEver", [path, `round ${round}`, json]);
  await child.hear();
  await after(scattered(round, 16));
  child.process.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
  return child.said.map(String);
}

/** What must hold after a kill: every acknowledged entry is there, and the file grows. */
function assertAcknowledged(path: string, acknowledged: readonly string[], round: number): void {
  const session = SessionManager.open(path);
  const found = new Set(getIds(session));
  expect(
    acknowledged.filter((id) => !found.has(id)),
    `round ${round}`,
  ).toEqual([]);
  // At most the one line that was being written is torn.
  expect(session.issues.filter(({ code }) => code !== "LINE_UNREADABLE" && code !== "BODY_DAMAGED")).toEqual(
    session.issues.filter(({ code }) => code === "TAIL_TORN"),
  );
  const id = session.appendMessage(user("after the kill"));
  expect(onDisk(path).getEntry(id)).toMatchObject({ message: user("after the kill") });
}

describe("a process that is killed while it appends", () => {
  test(`loses nothing that was acknowledged, ${ROUNDS} times`, async () => {
    const folder = sandbox();
    let total = 0;
    const chains = [0, 1].map(async (chain) => {
      let acknowledged: string[] = [];
      let path = "";
      for (let round = chain; round < ROUNDS; round += 2) {
        // Ten kills in a row on the same file: behind what each left, the next one goes on.
        if (path === "" || Math.floor(round / 2) % 10 === 0) {
          path = join(folder, `${round}.jsonl`);
          acknowledged = [];
        }
        const durability = round % 4 < 2 ? "os" : "fsync";
        const said = await killAppending(path, round, JSON.stringify({ durability }));
        total += said.length;
        acknowledged.push(...said);
        assertAcknowledged(path, acknowledged, round);
      }
    });
    await Promise.all(chains);
    // Each child has appended at least once; most have done so many times.
    expect(total).toBeGreaterThan(ROUNDS * 2);
  });
});

/** Lets a child upgrade a file by an append and die at a call; gives which file stands there then. */
async function killUpgrading(folder: string, call: number): Promise<"old" | "new"> {
  for (const name of names(folder)) rmSync(join(folder, name));
  const path = place(folder, "s.jsonl", VERSION_1);
  const before = onDisk(path);
  const child = children.start("upgradeUntilCall", [path, String(call)]);
  expect(await child.ended).toBe("SIGKILL");
  const isOld = readFileSync(path, "utf8") === VERSION_1;
  const session = onDisk(path);
  expect(session.issues).toEqual([]);
  expect(session.getHeader()).toEqual(before.getHeader());
  expect(session.getEntries().slice(0, before.getEntryCount())).toEqual(before.getEntries());
  if (!isOld) expect(readFileSync(`${path}.v1.bak`, "utf8")).toBe(VERSION_1);
  const next = SessionManager.open(path);
  next.appendMessage(user("next"));
  const texts = getTexts(onDisk(path).getEntries());
  // It may have died between the append and the word of it.
  expect(texts.filter((text) => text !== "after")).toEqual(["first", "second", "third", "next"]);
  // What it has left holds text that can be redacted, and so it goes before that.
  next.redact(next.getLeafId() ?? "");
  expect(litter(folder), `killed at call ${call}`).toEqual([]);
  return isOld ? "old" : "new";
}

describe("a process that is killed while it upgrades", () => {
  test("leaves the old or the new file, whole, at whatever call it dies", async () => {
    const path = place(sandbox(), "s.jsonl", VERSION_1);
    const [calls] = await children.run("upgradeUntilCall", [path, "0"]);
    expect(calls).toBeGreaterThan(10);
    const outcomes: string[] = [];
    const sample = sampledCalls(Number(calls));
    const chains = [0, 1].map(async (chain) => {
      const folder = sandbox();
      for (let number = chain; number < sample.length; number += 2) {
        outcomes[number] = await killUpgrading(folder, sample[number] ?? 1);
      }
    });
    await Promise.all(chains);
    expect([...new Set(outcomes)]).toEqual(["old", "new"]);
  });
});

/** What a child says after it has appended many entries. */
interface Appended {
  readonly ids: readonly string[];
  readonly path: readonly string[];
  readonly noticed: readonly string[];
  readonly entries: number;
}

function isAppended(value: unknown): value is Appended {
  return typeof value === "object" && value !== null && "ids" in value && "noticed" in value;
}

describe("eight processes on one file", () => {
  test("keep all 8,000 entries, each line whole, each path unbroken, and notice each other", async () => {
    const path = place(sandbox(), "s.jsonl", lines(header()));
    const writers = Array.from({ length: 8 }, (_, i) =>
      children.start("appendMany", [path, `writer ${i}`, "1000", "7"]),
    );
    for (const writer of writers) expect(await writer.hear()).toBe("ready");
    for (const writer of writers) writer.dismiss();
    const results = (await Promise.all(writers.map((writer) => writer.hear()))).filter(isAppended);
    await Promise.all(writers.map((writer) => writer.ended));

    const session = onDisk(path);
    expect(session.issues).toEqual([]);
    expect(session.getEntryCount()).toBe(8000);
    const known = new Set<unknown>([null]);
    const text = readFileSync(path, "utf8");
    expect(text.endsWith("\n")).toBe(true);
    // A line that is seen while it is being written is closed by the next writer, in vain: that leaves a blank one.
    for (const line of text
      .split("\n")
      .slice(1)
      .filter((one) => one !== "")) {
      const entry = JSON.parse(line);
      expect(known.has(entry.parentId), line).toBe(true);
      known.add(entry.id);
    }
    expect(results).toHaveLength(8);
    for (const [i, result] of results.entries()) {
      // The own leaf stayed: what others wrote came beside, not between.
      expect(result.path).toEqual(result.ids);
      const branch = getTexts(session.getBranch(result.ids[999]));
      expect(branch).toEqual(Array.from({ length: 1000 }, (_, at) => `writer ${i} ${at}`));
      expect(result.noticed).toEqual(
        Array.from({ length: 8 }, (_, other) => `writer ${other}`).filter((_, other) => other !== i),
      );
    }
    // Whoever looked last has seen everything.
    expect(Math.max(...results.map(({ entries }) => entries))).toBe(8000);
  });
});

test("a process that is killed while it imports leaves nothing that stays", async () => {
  const folder = sandbox();
  const child = children.start("importForEver", [folder]);
  expect(await child.hear()).toBe("began");
  expect(litter(folder)).toHaveLength(1);
  child.process.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
  const store = fileStore({ sessionDir: folder });
  await store.importBytes(
    (async function* () {
      yield Buffer.from(lines(header()));
    })(),
  );
  expect(names(folder)).toHaveLength(1);
  expect(litter(folder)).toEqual([]);
});

test("a file that a killed process was about to make is begun by the next", async () => {
  const path = join(sandbox(), "s.jsonl");
  writeFileSync(path, "");
  const session = SessionManager.open(path);
  session.appendMessage(user("one"));
  expect(getTexts(onDisk(path).getEntries())).toEqual(["one"]);
});

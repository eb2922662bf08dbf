import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { SessionManager } from "sessiontree";
import { fileStore } from "sessiontree/stores";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { sampledCalls, scaleCount } from "../support/share.ts";
import { Children } from "./support/children.ts";
import { litter, names, place, sandbox } from "./support/sandbox.ts";
import { getIds, getTexts, header, lines, onDisk, user, VERSION_1 } from "./support/sessions.ts";

const children = new Children();

const ROUNDS = scaleCount(220);

/** Returns a pseudorandom number that is the same in every run. */
function scattered(round: number, below: number): number {
  return (Math.imul(round + 1, 0x9e3779b1) >>> 0) % below;
}

/** Kills a child during an append; returns the ids that it reported. */
async function killAppending(path: string, round: number, json: string): Promise<string[]> {
  const child = children.start("appendForEver", [path, `round ${round}`, json]);
  await child.hear();
  await after(scattered(round, 16));
  child.process.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
  return child.said.map(String);
}

/** Checks a file after a kill: every acknowledged entry exists, and the file grows. */
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

describe("a process that is killed during appends", () => {
  test(`loses no acknowledged entry, ${ROUNDS} times`, async () => {
    const folder = sandbox();
    let total = 0;
    const chains = [0, 1].map(async (chain) => {
      let acknowledged: string[] = [];
      let path = "";
      for (let round = chain; round < ROUNDS; round += 2) {
        // Ten kills in a row on the same file: each child continues after the rest of the previous one.
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

const PIECES = z.array(z.object({ piece: z.number(), atMs: z.number() }));

/** Kills a child that is receiving an answer; returns the pieces that it reported, and the last one recovered. */
async function killStreaming(path: string, round: number, everyMs: number) {
  const child = children.start("streamForEver", [path, String(everyMs)]);
  await child.hear();
  await after(scattered(round, 80));
  child.process.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
  const said = PIECES.parse(child.said);
  const session = SessionManager.open(path);
  const answer = await session.recoverPartialAnswer();
  expect(session.issues).toEqual([]);
  const [block] = answer?.content ?? [];
  const text = block?.type === "text" ? block.text.trimEnd() : "";
  expect(answer?.stopReason).toBe("aborted");
  await session.discardPartialAnswer();
  return { said, text, last: Number(text.split(" ").at(-1)) };
}

describe("a process that is killed during an answer", () => {
  const rounds = scaleCount(60);

  test(`loses at most the last interval, ${rounds} times`, async () => {
    const folder = sandbox();
    let lost = 0;
    for (let round = 0; round < rounds; round++) {
      const path = place(folder, `${round}.jsonl`, lines(header({ id: `s${round}` })));
      const everyMs = [0, 5, 20, 50][round % 4] ?? 0;
      const { said, text, last } = await killStreaming(path, round, everyMs);
      expect(text).toBe(Array.from({ length: last + 1 }, (_, piece) => piece).join(" "));
      const missing = said.filter(({ piece }) => piece > last);
      const [first] = missing;
      if (first === undefined) continue;
      lost++;
      expect((missing.at(-1)?.atMs ?? 0) - first.atMs, `round ${round}`).toBeLessThan(everyMs);
      expect(names(folder).filter((name) => name.endsWith(".partial"))).toEqual([]);
    }
    // Some must have been killed between two saves; otherwise the test proves nothing.
    expect(lost).toBeGreaterThan(0);
  });
});

/** Kills a child at a call during the upgrade of a file; returns which file remains. */
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
  // It may have died between the append and its report.
  expect(texts.filter((text) => text !== "after")).toEqual(["first", "second", "third", "next"]);
  // The leftovers hold text that can be redacted; therefore they are removed before that.
  next.redactEntry(next.getLeafId() ?? "");
  expect(litter(folder), `killed at call ${call}`).toEqual([]);
  return isOld ? "old" : "new";
}

describe("a process that is killed during an upgrade", () => {
  test("leaves the old or the new file, complete, whichever call it dies at", async () => {
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

/** Report of a child after many appends. */
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
  test("keep all 8,000 entries, each line complete, each path unbroken, and notice each other", async () => {
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
    // The next writer closes a line that is visible during its write, unnecessarily: that leaves a blank one.
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
      // The own leaf stayed: others' entries are on their own branches.
      expect(result.path).toEqual(result.ids);
      const branch = getTexts(session.getBranch(result.ids[999]));
      expect(branch).toEqual(Array.from({ length: 1000 }, (_, at) => `writer ${i} ${at}`));
      expect(result.noticed).toEqual(
        Array.from({ length: 8 }, (_, other) => `writer ${other}`).filter((_, other) => other !== i),
      );
    }
    // The last reader has seen everything.
    expect(Math.max(...results.map(({ entries }) => entries))).toBe(8000);
  });
});

test("a process killed during an import leaves no permanent file", async () => {
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

test("the next process creates a file that a killed one was about to create", async () => {
  const path = join(sandbox(), "s.jsonl");
  writeFileSync(path, "");
  const session = SessionManager.open(path);
  session.appendMessage(user("one"));
  expect(getTexts(onDisk(path).getEntries())).toEqual(["one"]);
});

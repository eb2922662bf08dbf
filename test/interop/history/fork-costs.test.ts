import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ImportSessionsOptions } from "../../../src/interop/history/import-sessions.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import { joinLines, part, SESSION_ID, text, user } from "../import/support/claude-records.ts";
import { Places } from "./support/places.ts";

const FORK_ID = "99999999-2222-4333-8444-555555555555";
const PATHS = [SESSION_ID, FORK_ID].map((id) => `.claude/projects/-code-project/${id}.jsonl`);
const [PARENT_PATH = "", FORK_PATH = ""] = PATHS;

function totals(costUSD: number) {
  return { type: "cost-state", modelUsage: { "claude-x": { costUSD, outputTokens: costUSD * 100 } } };
}

const ONE = [user("q", null, "hello"), part("a", "q", "msg_1", text("hi"))];
const TWO = [user("q2", "a", "and now?"), part("a2", "q2", "msg_2", text("this"))];

/** The original, which continued after it was copied. */
const ORIGINAL = [
  ...ONE,
  totals(0.1),
  ...TWO,
  totals(0.3),
  user("q3", "a2", "in the original"),
  part("a3", "q3", "msg_3", text("yes")),
  totals(0.5),
];

/** A copy of the first two turns, started later; its totals start at those of the original. */
function copyWith(...more: readonly object[]): string {
  const begun = { type: "queue-operation", timestamp: "2026-11-22T09:00:00.000Z" };
  const copied = [...ONE, ...TWO].map((one) => ({ ...one, sessionId: FORK_ID }));
  return joinLines([begun, ...copied, ...more]);
}

const OWN = [user("f", "a2", "in the copy"), part("g", "f", "msg_f", text("no"))];

function costsIn(path: string | null | undefined): { ids: string[]; dollars: number } {
  const session = SessionManager.open(path ?? "", { mode: "read-only" });
  const found = session.getEntries().flatMap((entry) => (entry.type === "usage" ? [entry] : []));
  const dollars = found.reduce((sum, { usage }) => sum + usage.cost.total, 0);
  return { ids: found.map(({ id }) => id), dollars };
}

function forget({ cacheDir }: Places): void {
  rmSync(cacheDir, { recursive: true, force: true });
}

test("counts the dollars that a copy's totals start with only in the original, and gives its entries their own ids", async () => {
  const places = new Places();
  places.put(PARENT_PATH, joinLines(ORIGINAL));
  places.put(FORK_PATH, copyWith(...OWN, totals(0.4), user("f2", "g", "more"), totals(0.45)));
  const [parent, fork] = (await places.import()).map(({ path }) => costsIn(path));
  expect(parent?.dollars).toBeCloseTo(0.5, 9);
  expect(fork?.dollars).toBeCloseTo(0.15, 9);
  expect(fork?.ids).toHaveLength(2);
  expect(fork?.ids.filter((id) => parent?.ids.includes(id))).toEqual([]);
});

test("subtracts the original's cost after its file is removed, even if the copy had no cost yet", async () => {
  const places = new Places();
  const original = places.put(PARENT_PATH, joinLines(ORIGINAL));
  places.put(FORK_PATH, copyWith(totals(0.3)));
  const [, fork] = await places.import();
  expect(costsIn(fork?.path).dollars).toBe(0);
  rmSync(original);
  for (const [total, status] of [
    [0.35, "grown"],
    [0.35, "unchanged"],
    [0.4, "grown"],
  ] as const) {
    forget(places);
    const between = total === 0.4 ? [totals(0.35), user("f2", "g", "more")] : [];
    places.put(FORK_PATH, copyWith(totals(0.3), ...OWN, ...between, totals(total)));
    expect((await places.import()).map((one) => one.status)).toEqual([status]);
    expect(costsIn(fork?.path).dollars).toBeCloseTo(total - 0.3, 9);
  }
});

test("leaves earlier imports unchanged when the original becomes known later", async () => {
  const places = new Places();
  const copy = places.put(FORK_PATH, copyWith(...OWN, totals(0.4)));
  const [fork] = await places.import({ paths: [copy] });
  places.put(PARENT_PATH, joinLines(ORIGINAL));
  forget(places);
  const before = readFileSync(fork?.path ?? "", "utf8");
  await places.import();
  expect(readFileSync(fork?.path ?? "", "utf8")).toBe(before);
  places.put(FORK_PATH, copyWith(...OWN, totals(0.4), user("f2", "g", "more"), totals(0.45)));
  await places.import();
  expect(costsIn(fork?.path).dollars).toBeCloseTo(0.45, 9);
});

test("subtracts the original's cost from totals that come after a copy's first import, in a store, too", async () => {
  const places = new Places();
  const store = memoryStore();
  const into: Partial<ImportSessionsOptions> = { store, storeName: "memory" };
  const original = places.put(PARENT_PATH, joinLines(ORIGINAL));
  places.put(FORK_PATH, copyWith(...OWN));
  await places.import(into);
  const session = await store.open(FORK_ID);
  session.appendMessage({ role: "user", content: "mine", timestamp: 0 });
  await session.close();
  places.put(FORK_PATH, copyWith(...OWN, totals(0.4)));
  await places.import(into);
  rmSync(original);
  forget(places);
  places.put(FORK_PATH, copyWith(...OWN, totals(0.4), user("f2", "g", "more"), totals(0.45)));
  await places.import(into);
  const entries = (await store.open(FORK_ID)).getEntries();
  const dollars = entries.map((entry) => (entry.type === "usage" ? entry.usage.cost.total : 0));
  expect(dollars.reduce((sum, one) => sum + one, 0)).toBeCloseTo(0.15, 9);
});

const CORPUS = fileURLToPath(
  new URL("../../../../shared/corpus-other-agents/generated/claude-code/fork/", import.meta.url),
);

test.skipIf(!existsSync(CORPUS))("a real fork and its original cost what their calls cost", async () => {
  const places = new Places();
  for (const name of readdirSync(CORPUS).filter((one) => one.endsWith(".jsonl"))) {
    places.put(`.claude/projects/-home-ada/${name}`, readFileSync(join(CORPUS, name)));
  }
  const dollars = (await places.import()).map(({ path }) => costsIn(path).dollars);
  // The last totals of both, minus the fork's initial totals.
  expect(dollars.reduce((sum, one) => sum + one, 0)).toBeCloseTo(0.1552296 + 0.2342916 - 0.11528055, 9);
});

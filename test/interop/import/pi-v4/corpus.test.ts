import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { validateEntry } from "../../../../src/core/format/validate.ts";
import { imported } from "../support/pi4-records.ts";

const CORPUS = fileURLToPath(new URL("../../../../../shared/corpus-pi-v4/", import.meta.url));
const isThere = existsSync(CORPUS);

const message = z.looseObject({ role: z.string(), stopReason: z.string().optional() });

const branchTruth = z.object({
  tip: z.string().nullable(),
  path: z.array(z.string()),
  context: z.array(message),
  config: z
    .object({
      model: z.object({ provider: z.string(), modelId: z.string() }).nullable(),
      thinkingLevel: z.string(),
      activeToolNames: z.array(z.string()).nullable(),
    })
    .nullable(),
});

const fileTruth = z.union([
  z.object({
    opens: z.literal(true),
    name: z.string().nullable(),
    entries: z.array(z.looseObject({ id: z.string(), type: z.string() })),
    labels: z.record(z.string(), z.string()),
    branches: z.record(z.string(), branchTruth),
    sameAfterOpen: z.boolean(),
    stats: z.looseObject({ usage: z.looseObject({ totalTokens: z.number() }).optional() }),
  }),
  z.object({ opens: z.literal(false), error: z.array(z.string()) }),
]);

const truthSchema = z.object({ files: z.record(z.string(), fileTruth) });

/** The files of version 4 with the results of pi's own API for each. */
function casesOf() {
  if (!isThere) return [];
  return readdirSync(CORPUS).flatMap((name) => {
    const path = join(CORPUS, name, "truth.json");
    if (!existsSync(path)) return [];
    const { files } = truthSchema.parse(JSON.parse(readFileSync(path, "utf8")));
    return Object.entries(files).map(([file, truth]) => ({
      name,
      bytes: readFileSync(join(CORPUS, name, file)),
      truth,
    }));
  });
}

const isSession = ({ bytes }: { readonly bytes: Buffer }) => !bytes.includes('"type":"session"');
const cases = casesOf().filter(isSession);

/** Answers that pi leaves out of a context and that stay in ours until a request is made. */
const FAILED = ["error", "aborted", "deferred"];

const fields = (value: unknown): Record<string, unknown> => Object(value);

describe.skipIf(!isThere)("sessions written by pi (skipped where ../shared/corpus-pi-v4 is missing)", () => {
  test.each(cases.filter(({ truth }) => truth.opens && truth.entries.length > 0))(
    "$name has the same content as in pi's API",
    ({ bytes, truth }) => {
      if (!truth.opens) return;
      const { session, entries, pathTo, contextAt, branches, leafId } = imported(bytes);
      const ids = new Set(truth.entries.map(({ id }) => id));
      expect(entries.filter(({ id }) => ids.has(id)).map(({ id, type }) => ({ id, type }))).toEqual(
        truth.entries.map(({ id, type }) => ({ id, type })),
      );
      expect(
        entries.filter((one) => validateEntry(one).ok === false && one.type !== "active_tools_change"),
      ).toEqual([]);
      const last = (type: string) => entries.filter((one) => one.type === type).map(fields);
      expect(last("session_info").at(-1)?.["name"] ?? null).toBe(truth.name);
      expect(Object.fromEntries(last("label").map((one) => [one["targetId"], one["label"]]))).toEqual(
        truth.labels,
      );
      expect(new Set(branches.map(({ name }) => name))).toEqual(new Set(Object.keys(truth.branches)));
      for (const { id, name, leafId: tip } of branches) {
        const expected = truth.branches[name];
        const path = pathTo(id);
        expect(tip, name).toBe(expected?.tip);
        expect(
          path.flatMap((one) => (ids.has(one.id) ? one.id : [])),
          name,
        ).toEqual(expected?.path);
        const { messages, model, thinkingLevel } = contextAt(id);
        const isKept = (one: object) => !FAILED.includes(String(fields(one)["stopReason"]));
        expect(messages.filter(isKept), name).toEqual(expected?.context.filter(isKept));
        if (expected?.config == null) continue;
        const tools = path.findLast(({ type }) => type === "active_tools_change");
        const activeToolNames = tools === undefined ? null : fields(tools)["activeToolNames"];
        expect({ model, thinkingLevel, activeToolNames }, name).toEqual(expected.config);
      }
      const main = branches.find(({ name }) => name === "main");
      if (main !== undefined) expect(leafId).toBe(main.id);
      const { records, mapped, kept, dropped } = session.counts;
      expect(mapped + kept + dropped).toBe(records);
      expect(session.issues.filter(({ code }) => code !== "TAIL_TORN" && code !== "SOURCE_LEFT_OUT")).toEqual(
        [],
      );
      expect(session.issues.some(({ code }) => code === "TAIL_TORN")).toBe(!truth.sameAfterOpen);
    },
  );

  test.each(cases.filter(({ truth }) => !truth.opens))(
    "$name, which pi refuses, is read as far as possible and reported",
    ({ bytes }) => {
      const { session, branches, contextAt } = imported(bytes);
      expect(session.issues.length).toBeGreaterThan(0);
      expect(branches.length).toBeGreaterThan(0);
      expect(contextAt(branches.at(-1)?.id ?? null).messages.length).toBeGreaterThan(0);
      const whole = bytes
        .toString()
        .split("\n")
        .filter((line) => (line.includes('"kind":"entry"') && line.endsWith("}")) || line.endsWith("]"));
      expect(session.counts.userMessages + session.counts.assistantMessages).toBe(
        whole.join().split('"role":').length - 1,
      );
    },
  );
});

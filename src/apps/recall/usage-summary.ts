import { USAGE_KEYS, type UsageGroup } from "../../catalog/usage/usage-groups.ts";
import { count, counted, dollars } from "../../core/facts/number-text.ts";
import { tokensIn } from "../../core/facts/usage.ts";
import { addPage, CURSOR } from "./answer-page.ts";
import { choicesArgument, countArgument } from "./argument.ts";
import { ALL, joined, MAX_BYTES, PROJECT, type Recall, type RecallTool, SINCE, UNTIL } from "./recall.ts";

const BY = choicesArgument(["by", "one group for each of these; default: model"], USAGE_KEYS);
const LIMIT = countArgument(["limit", "the most groups"], { least: 1, most: 100, fallback: 20 });

/** Adds up tokens and cost. */
export const usageTool: RecallTool = {
  name: "usage",
  title: "Usage of models",
  description:
    "Adds up tokens and cost of past sessions, by time, model, project, source or session; each call counts once. A dash stands for what no record says.",
  arguments: [BY, PROJECT, ALL, SINCE, UNTIL, LIMIT, CURSOR, MAX_BYTES],
  run: async (recall, call, answer) => {
    const { get } = call;
    const { source, prices } = recall.settings;
    const by = get(BY) ?? ["model"];
    const { groups, total, damaged } = await source.usage(recall.projectOf(call), {
      by,
      ...recall.timesOf(call),
      ...(prices && { prices }),
    });
    answer.add(`total: ${sumsOf(total)}`);
    const lineOf = (group: UsageGroup) => `${nameOf(recall, group)}: ${sumsOf(group)}`;
    await addPage(answer, call, LIMIT, groups, (group) => ({ lines: [lineOf(group)] }));
    if (damaged.length > 0)
      answer.note(
        `${counted(damaged.length, "session has", "sessions have")} damaged lines; calls on them are missing.`,
      );
  },
};

function nameOf(recall: Recall, { by: { session, ...keys }, subagentOf }: UsageGroup): string {
  const names = Object.values(keys).map((value) => value ?? "(not recorded)");
  const named = session && recall.lineOf(session);
  return joined(
    ...names,
    ...(named === undefined ? [] : [subagentOf === undefined ? named : `subagent's ${named}`]),
  );
}

function sumsOf(group: UsageGroup): string {
  const { sessions, calls, output, cost, estimated, unpriced } = group;
  return joined(
    counted(sessions, "session"),
    counted(calls, "call"),
    `${count(tokensIn(group))} in`,
    `${count(output)} out`,
    `cost ${dollars(cost)}`,
    estimated === null ? "" : `estimated ${dollars(estimated)}`,
    unpriced === 0 ? "" : `${count(unpriced)} tokens unpriced`,
  );
}

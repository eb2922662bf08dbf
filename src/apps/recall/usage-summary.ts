import { USAGE_KEYS, type UsageGroup } from "../../catalog/usage/usage-groups.ts";
import { formatCount, formatCounted } from "../../core/facts/number-text.ts";
import { countInputTokens } from "../../core/facts/usage.ts";
import { explainCost, formatCost } from "../../core/facts/usage-tally.ts";
import { choicesArgument } from "./argument.ts";
import {
  ALL,
  addPage,
  joinFacts,
  MAX_BYTES,
  PROJECT,
  pageArguments,
  type Recall,
  type RecallTool,
  SINCE,
  UNTIL,
} from "./recall.ts";

const BY = choicesArgument(["by", "one group for each of these; default: model"], USAGE_KEYS);
const PAGE = pageArguments("groups", { max: 100, fallback: 20 });

const MAX_NAME = 1_000;

/** Visible symbols that replaced invisible characters; they are removed because a secret may span them. */
const PICTURES = /[\u2400-\u2421\ufffd]/g;

/** Tool that totals tokens and cost. */
export const usageTool: RecallTool = {
  name: "usage",
  title: "Usage of models",
  description:
    "Adds up tokens and cost in the history of past sessions, by time, model, project, source or session; each call counts once. A ~ marks a cost that is estimated in part.",
  arguments: [BY, PROJECT, ALL, SINCE, UNTIL, PAGE.limit, PAGE.cursor, MAX_BYTES],
  run: async (recall, call, answer) => {
    const { get } = call;
    const { source, prices } = recall.settings;
    const { signal } = recall.time;
    const by = get(BY) ?? ["model"];
    const { groups, total, damaged } = await source.usage(recall.getProject(call), {
      by,
      ...recall.getTimes(call),
      ...(prices && { prices }),
      ...(signal && { signal }),
    });
    answer.add(`total: ${formatSums(total)}`);
    const formatGroup = async (group: UsageGroup) =>
      `${await getGroupName(recall, group)}: ${formatSums(group)}`;
    await addPage(answer, call, PAGE, groups, async (group) => ({ lines: [await formatGroup(group)] }));
    if (damaged.length > 0)
      answer.note(
        `${formatCounted(damaged.length, "session has", "sessions have")} damaged lines; calls on them are missing.`,
      );
  },
};

async function getGroupName(
  recall: Recall,
  { by: { session, ...keys }, subagentOf }: UsageGroup,
): Promise<string> {
  const names = Object.values(keys).map((value) => formatName(value));
  const named = session && (await recall.formatRow(session));
  return joinFacts(
    ...names,
    ...(named === undefined ? [] : [subagentOf === undefined ? named : `subagent's ${named}`]),
  );
}

/** Formats a name. A name that exceeds the limit is not shown, because it may have been truncated within a secret. */
function formatName(name: string | null): string {
  if (name === null) return "(not recorded)";
  return name.length > MAX_NAME ? "(name too long)" : name.replace(PICTURES, "");
}

function formatSums(group: UsageGroup): string {
  const { sessions, calls, output } = group;
  return joinFacts(
    formatCounted(sessions, "session"),
    formatCounted(calls, "call"),
    `${formatCount(countInputTokens(group))} in`,
    `${formatCount(output)} out`,
    `cost ${formatCost(group)}`,
    explainCost(group),
  );
}

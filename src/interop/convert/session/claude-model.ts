/** Family and version of a Claude model, regardless of the provider. */
interface ClaudeModel {
  readonly family: string;
  /** Major version times 100, plus the minor version. */
  readonly version: number;
}

/** Matches names such as `claude-opus-5-5-20260901`, `us.anthropic.claude-opus-5-5-v1:0`, or `anthropic/claude-opus-5.5`. */
const NAME = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;

/** First version that binds its thinking to the request that produced it. */
const BOUND_SINCE = 501;

/**
 * Parses a model name; undefined if it is not a Claude model, or is one of the first models, whose names begin with the
 * version.
 */
function parseClaude(model: unknown): ClaudeModel | undefined {
  const [, family, major, minor = "0"] = (typeof model === "string" && NAME.exec(model)) || [];
  if (family === undefined) return undefined;
  return { family, version: Number(major) * 100 + Number(minor) };
}

/**
 * Returns whether a model rejects thinking if the preceding content has changed. A date in the name is not a version.
 *
 * @param model - Stored name of a model. A session file may contain any value.
 */
export function bindsThinking(model: unknown): boolean {
  return (parseClaude(model)?.version ?? 0) >= BOUND_SINCE;
}

/** Returns whether two names refer to the same family and version of Claude. Such models can read each other's thinking. */
export function isSameClaude(a: string, b: string): boolean {
  const [one, other] = [parseClaude(a), parseClaude(b)];
  return one !== undefined && one.family === other?.family && one.version === other.version;
}

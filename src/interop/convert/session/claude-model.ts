/** Family and version of a Claude model, whatever provider names it. */
interface ClaudeModel {
  readonly family: string;
  /** Major version times 100, plus the minor one. */
  readonly version: number;
}

/** Name such as `claude-opus-5-5-20260901`, `us.anthropic.claude-opus-5-5-v1:0`, or `anthropic/claude-opus-5.5`. */
const NAME = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;

/** First version that binds its thinking to the request that produced it. */
const BOUND_SINCE = 501;

/**
 * Parses the name of a model; undefined if it is not a Claude, or one of the first, whose names have the version first.
 */
function parseClaude(model: string): ClaudeModel | undefined {
  const [, family, major, minor = "0"] = NAME.exec(model) ?? [];
  if (family === undefined) return undefined;
  return { family, version: Number(major) * 100 + Number(minor) };
}

/**
 * Returns whether a model rejects thinking after content before it has changed. A date in its name is not a version.
 */
export function bindsThinking(model: string | undefined): boolean {
  return model !== undefined && (parseClaude(model)?.version ?? 0) >= BOUND_SINCE;
}

/** Returns whether two names mean one family and version of Claude, which can read each other's thinking. */
export function isSameClaude(a: string, b: string): boolean {
  const [one, other] = [parseClaude(a), parseClaude(b)];
  return one !== undefined && one.family === other?.family && one.version === other.version;
}

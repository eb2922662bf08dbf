/** A name such as `claude-opus-5-5-20260901`, `us.anthropic.claude-opus-5-5-v1:0` or `anthropic/claude-opus-5.5`. */
const NAME = /claude-[a-z]+-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;

/** First version that binds its thinking to the request that produced it: major version times 100, plus the minor one. */
const BOUND_SINCE = 501;

/** Tells whether a model refuses thinking if anything before it is not as it was. A date in its name is no version. */
export function bindsThinking(model: string | undefined): boolean {
  const [, major, minor = "0"] = NAME.exec(model ?? "") ?? [];
  return major !== undefined && Number(major) * 100 + Number(minor) >= BOUND_SINCE;
}

import type { ItemState } from "../model/path-items.ts";

/** What a state means, for a person; empty where there is nothing to say, or a notice says it. */
export const STATE_WORDS: { readonly [state in ItemState]: string } = {
  seen: "",
  edited: "edited for the model",
  removed: "removed from the context",
  "left-out": "",
  aside: "",
};

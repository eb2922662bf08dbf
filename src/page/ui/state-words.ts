import type { ItemState } from "../model/path-items.ts";

/** What a state means, for a person; empty where there is nothing to say, or a notice says it. */
export const STATE_WORDS: { readonly [state in ItemState]: string } = {
  seen: "",
  edited: "edited for the model",
  removed: "removed from the context",
  "left-out": "",
  aside: "",
};

/** Says why an entry looks as it does; undefined where that needs no word. */
export const STATE_HINTS: { readonly [state in ItemState]: string | undefined } = {
  seen: undefined,
  edited: "The model sees something else here, because of a context edit",
  removed: "Removed by a context edit: the model does not see this",
  "left-out": "Left out by compaction: the model does not see this",
  aside: "Kept for people and programs: the model does not see this",
};

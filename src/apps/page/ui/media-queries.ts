/** From this width on there is room for the tree beside the conversation; the style sheet has the same. */
export const WIDE = "(min-width: 900px)";

/** Where a finger points, so that there is no keyboard as a rule. */
export const TOUCH = "(hover: none) and (pointer: coarse)";

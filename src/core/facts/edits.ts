import { fieldsOf, listOf } from "../context/entry-fields.ts";
import { textOf } from "../context/message-parts.ts";

/** A text that a tool was asked to replace, and the one that replaces it. */
export interface TextEdit {
  readonly before: string;
  readonly after: string;
}

/** Names that tools have for the text before and after. */
const OLD_NAMES = ["oldText", "old_string", "old_str", "oldString", "old_text", "old"];
const NEW_NAMES = ["newText", "new_string", "new_str", "newString", "new_text", "new"];

/**
 * Returns the changes that an edit tool was asked to make: an old and a new text in its arguments, or a list `edits` of such;
 * empty for other tools.
 */
export function editsOfCall(input: unknown): TextEdit[] {
  const fields = fieldsOf(input);
  const edits = Array.isArray(fields["edits"]) ? listOf(fields["edits"]) : [input];
  return edits.flatMap((edit) => {
    const texts = fieldsOf(edit);
    const pick = (names: readonly string[]) => names.find((name) => typeof texts[name] === "string");
    const [before, after] = [pick(OLD_NAMES), pick(NEW_NAMES)];
    if (before === undefined || after === undefined) return [];
    return [{ before: textOf(texts[before]), after: textOf(texts[after]) }];
  });
}

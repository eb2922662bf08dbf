import { fieldsOf, listOf } from "../../core/context/entry-fields.ts";
import { isJsonRecord } from "../../core/format/json.ts";

/** What an SDK calls the elements of its lists. */
type Element = "Message" | "Item" | "Content";

/** Refuses messages and parts that are no objects, such as `null`, which JSON has for a gap in a list and for NaN. */
export function assertMessages(messages: readonly unknown[], element: Element = "Message"): void {
  messages.forEach((message, index) => {
    if (!isJsonRecord(message)) {
      throw new TypeError(
        `${element} ${index} is ${shown(message)}, not an object. Remove it from the list.`,
      );
    }
    const { content, parts } = fieldsOf(message);
    const all = [...listOf(content), ...listOf(parts)];
    const at = all.findIndex((part) => !isJsonRecord(part));
    if (at === -1) return;
    throw new TypeError(
      `Part ${at} of ${element.toLowerCase()} ${index} is ${shown(all[at])}, not an object. ` +
        "Remove it from the list, or make it a part with a text.",
    );
  });
}

/** Makes the error for a message of an unknown role, with the roles that are known. */
export function unknownRole(
  index: number,
  role: unknown,
  known: string,
  element: Element = "Message",
): TypeError {
  return new TypeError(`${element} ${index} has the role ${JSON.stringify(role)}${known}.`);
}

/** Tells whether messages were passed as a list rather than in a request. */
export function isList<Message>(messages: object | readonly Message[]): messages is readonly Message[] {
  return Array.isArray(messages);
}

/** Names a value without showing what it holds. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return typeof value === "string" ? "a text" : String(value);
}

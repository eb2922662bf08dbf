import { fields, list, text, unicodeFaults } from "./json.ts";

/**
 * Returns the faults for which the AI SDK's `generateText` would throw or its providers refuse.
 *
 * @param request - `{ instructions, messages }`.
 * @returns One line for each fault; empty if the request is accepted.
 */
export function checkModelMessages(request: unknown): string[] {
  const faults = unicodeFaults(request);
  const messages = list(fields(request)["messages"]).map(fields);
  if (messages.length === 0) faults.push("Invalid prompt: messages must not be empty");
  let waiting: string[] = [];
  const close = () => {
    if (waiting.length > 0) faults.push(`Tool results are missing for tool calls ${waiting.join(", ")}.`);
    waiting = [];
  };
  for (const { role, content } of messages) {
    const parts = typeof content === "string" ? [{ type: "text", text: content }] : list(content).map(fields);
    if (role === "system") faults.push("System messages are not allowed in the prompt or messages fields.");
    if (parts.length === 0) faults.push(`A ${text(role)} message has no content.`);
    for (const part of parts) {
      const isSigned = fields(part)["providerOptions"] !== undefined;
      if (part.type === "text" && fields(part)["text"] === "" && !isSigned)
        faults.push("A text part is empty.");
    }
    if (role !== "tool") close();
    for (const part of parts.map(fields)) {
      const id = text(part["toolCallId"]);
      if (part["type"] === "tool-call" && part["providerExecuted"] !== true) waiting.push(id);
      if (role !== "tool" || part["type"] !== "tool-result") continue;
      if (!waiting.includes(id)) faults.push(`A tool result answers nothing: ${id}`);
      waiting = waiting.filter((one) => one !== id);
    }
  }
  close();
  return faults;
}

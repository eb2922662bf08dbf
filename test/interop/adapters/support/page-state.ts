/** State of an AI SDK page without a framework: the `state` of its `AbstractChat`. */
export class PageState<Message> {
  status: "submitted" | "streaming" | "ready" | "error" = "ready";
  error: Error | undefined;
  messages: Message[] = [];

  pushMessage = (message: Message) => {
    this.messages = [...this.messages, message];
  };

  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: Message) => {
    this.messages = this.messages.map((old, at) => (at === index ? structuredClone(message) : old));
  };

  snapshot = <T>(thing: T): T => structuredClone(thing);
}

/**
 * Both sides of a chat with the AI SDK (`ai` 5, 6, or 7): the server's route, and the page's requests. The sessions are in the
 * folder `chats`.
 *
 *     npx tsx docs/examples/chat-app.ts
 *
 * It calls no model and starts no server: the page calls the route directly. docs/chat-app.md has routes that call a model.
 */
import {
  createUIMessageStream,
  createUIMessageStreamResponse,
  DefaultChatTransport,
  generateId,
  readUIMessageStream,
  type UIMessage,
  validateUIMessages,
} from "ai";
import { SessionManager } from "sessiontree";
import { loadChat, receiveChat, saveChat } from "sessiontree/adapters";
import { z } from "zod";

const FOLDER = "chats";

/** Opens or creates the session with the chat's ID. */
function openChat(id: string): SessionManager {
  const path = SessionManager.findById(process.cwd(), id, FOLDER);
  return path === undefined
    ? SessionManager.create(process.cwd(), FOLDER, { id })
    : SessionManager.open(path, FOLDER);
}

/** Schema of a page's request; `receiveChat` reads the other fields. */
const CHAT = z.looseObject({ id: z.string() });

/** Scripted answers of a model. */
const ANSWERS = ["It is Monday.", "No one has shopped yet."];

/** Handles a request on the server: stores the question, streams an answer, and stores the answer. */
async function POST(request: Request): Promise<Response> {
  const body = CHAT.parse(await request.json());
  const session = openChat(body.id);
  const { messages } = await receiveChat(session, body);
  const originalMessages = await validateUIMessages({ messages });
  const stream = createUIMessageStream({
    originalMessages,
    generateId,
    execute({ writer }) {
      const delta = ANSWERS.shift() ?? "I have nothing to add.";
      writer.write({ type: "text-start", id: "t1" });
      writer.write({ type: "text-delta", id: "t1", delta });
      writer.write({ type: "text-end", id: "t1" });
    },
    async onFinish({ messages }) {
      await saveChat(session, messages);
      await session.close();
    },
  });
  return createUIMessageStreamResponse({ stream });
}

/** Transport for the page; a complete page would call `useChat({ id, messages })`. */
const transport = new DefaultChatTransport<UIMessage>({
  api: "http://localhost/api/chat",
  fetch: (url, init) => POST(new Request(url, init)),
});

/** Sends the messages of a chat, and prints the answer. */
async function send(
  chatId: string,
  messages: UIMessage[],
  trigger: "submit-message" | "regenerate-message",
): Promise<void> {
  const asked = { messageId: undefined, abortSignal: undefined };
  const stream = await transport.sendMessages({ chatId, messages, trigger, ...asked });
  let answer: UIMessage | undefined;
  for await (answer of readUIMessageStream({ stream, terminateOnError: true }));
  say("answer", answer);
}

function say(who: string, message: { readonly parts: readonly object[] } | undefined): void {
  const texts = message?.parts.map((part) => ("text" in part ? part.text : ""));
  console.log(`  ${who.padEnd(10)} ${texts?.join("")}`);
}

const chatId = `chat-${generateId()}`;
const question: UIMessage = {
  id: generateId(),
  role: "user",
  parts: [{ type: "text", text: "Why is the cart empty?" }],
};
say("question", question);
await send(chatId, [question], "submit-message");
console.log("             (the user asks for another answer)");
await send(chatId, [question], "regenerate-message");

const session = openChat(chatId);
console.log("\nThe page is opened again, and shows:");
for (const message of loadChat(session)) say(message.role, message);
console.log(`\nBoth answers are in the session: npx sessiontree view ${session.getSessionFile()}`);

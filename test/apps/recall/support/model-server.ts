import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { toArray, toRecord } from "../../../../src/core/context/entry-fields.ts";
import { speakAnthropic } from "../../../support/provider-server/anthropic-speech.ts";
import { speakOpenAIChat } from "../../../support/provider-server/openai-chat-speech.ts";
import { speakOpenAIResponses } from "../../../support/provider-server/openai-responses-speech.ts";
import type {
  NextId,
  ScriptedAnswer,
  SpokenAnswer,
} from "../../../support/provider-server/scripted-answer.ts";

/** An answer of the model: a call of a tool, with text as its input if the tool is not a function, or the end. */
export type ModelAnswer =
  | { readonly name: string; readonly input: object | string }
  | { readonly text: string };

type Speak = (answer: ScriptedAnswer, model: string, nextId: NextId) => SpokenAnswer;

/** Wire formats of models, by the end of the requested path. */
const SPEECHES: readonly (readonly [path: RegExp, speak: Speak])[] = [
  [/^\/v1\/messages$/, speakAnthropic],
  [/^\/v1\/responses$/, speakOpenAIResponses],
  [/^\/v1\/chat\/completions$/, speakOpenAIChat],
  [/:(?:streamG|g)enerateContent$/, speakGemini],
];

/** A model on the loopback address that answers real agents from a script, whatever else they request. */
export class ModelServer implements AsyncDisposable {
  /** Requests sent to the model in the session itself. */
  readonly requests: unknown[] = [];
  readonly #script: ModelAnswer[];
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: unknown) => response.destroy(Object(error)));
  });
  #ids = 0;

  private constructor(script: readonly ModelAnswer[]) {
    this.#script = [...script];
  }

  static async start(script: readonly ModelAnswer[]): Promise<ModelServer> {
    const server = new ModelServer(script);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${Object(this.#server.address()).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const piece of request) text += String(piece);
    const { pathname } = new URL(request.url ?? "/", this.origin);
    const body = toRecord(text === "" ? {} : JSON.parse(text));
    const [, speak] = SPEECHES.find(([path]) => path.test(pathname)) ?? [];
    if (speak === undefined) {
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    // Titles, routes, and the like are requested without tools.
    const isSession = toArray(body["tools"]).length > 0;
    if (isSession) this.requests.push(body);
    const answer = (isSession ? this.#script.shift() : undefined) ?? { text: "{}" };
    const spoken = this.#speak(speak, answer, String(body["model"]));
    if (pathname.endsWith(":generateContent")) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(spoken.body));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const { name, data } of spoken.events) {
      const text = typeof data === "string" ? data : JSON.stringify(data);
      response.write(`${name === undefined ? "" : `event: ${name}\n`}data: ${text}\n\n`);
    }
    response.end();
  }

  #speak(speak: Speak, answer: ModelAnswer, model: string): SpokenAnswer {
    const nextId = (prefix: string) => `${prefix}_${++this.#ids}`;
    if ("text" in answer) return speak(answer, model, nextId);
    const { name, input } = answer;
    if (typeof input === "object") return speak({ calls: [{ name, arguments: input }] }, model, nextId);
    const item = { type: "custom_tool_call", id: nextId("ctc"), call_id: nextId("call"), name, input };
    const usage = { input_tokens: 21, output_tokens: 9, total_tokens: 30 };
    const events = [
      { type: "response.created", response: { id: nextId("resp") } },
      { type: "response.output_item.done", output_index: 0, item: { ...item, status: "completed" } },
      { type: "response.completed", response: { id: nextId("resp"), usage } },
    ];
    return { body: {}, events: events.map((data) => ({ name: data.type, data })), issued: [] };
  }
}

/** Sends an answer in the format of the Gemini API. */
function speakGemini({ text, calls = [] }: ScriptedAnswer): SpokenAnswer {
  const parts = [
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ name, arguments: args }) => ({ functionCall: { name, args } })),
  ];
  const body = {
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 21, candidatesTokenCount: 9, totalTokenCount: 30 },
  };
  return { body, events: [{ data: body }], issued: [] };
}

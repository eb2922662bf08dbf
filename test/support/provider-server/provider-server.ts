import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fields } from "../provider-rules/json.ts";
import { checkOpenAIChatRequest } from "../provider-rules/openai-chat.ts";
import { checkOpenAIResponsesRequest } from "../provider-rules/openai-responses.ts";
import { judgeAnthropic, speakAnthropic } from "./anthropic-speech.ts";
import { speakOpenAIChat } from "./openai-chat-speech.ts";
import { compactOpenAI, speakOpenAIResponses } from "./openai-responses-speech.ts";
import type { NextId, ScriptedAnswer, SpokenAnswer } from "./scripted-answer.ts";

/** An API of the server: what it refuses, and its answer format. */
interface Protocol {
  judge(request: unknown, issued: readonly (readonly object[])[]): string[];
  speak(answer: ScriptedAnswer, model: string, nextId: NextId): SpokenAnswer;
}

const PROTOCOLS: ReadonlyMap<string, Protocol> = new Map([
  ["/v1/messages", { judge: judgeAnthropic, speak: speakAnthropic }],
  ["/v1/chat/completions", { judge: checkOpenAIChatRequest, speak: speakOpenAIChat }],
  [
    "/v1/responses",
    {
      judge: (request, issued) => checkOpenAIResponsesRequest(request, { issued }),
      speak: speakOpenAIResponses,
    } satisfies Protocol,
  ],
]);

/** A received request. */
export interface SeenRequest {
  readonly path: string;
  readonly body: { readonly [field: string]: unknown };
  /** Reasons of its refusal; empty if it was answered. */
  readonly faults: readonly string[];
}

/**
 * A server on the loopback address that implements the providers' protocols, refuses what they refuse, in their words and with
 * status 400, and answers from a script.
 */
export class ProviderServer implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  readonly #script: ScriptedAnswer[] = [];
  readonly #issued: (readonly object[])[] = [];
  readonly #hanging: (() => void)[] = [];
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: unknown) => response.destroy(asError(error)));
  });
  #ids = 0;

  private constructor() {}

  /** Starts a server on a free port. */
  static async start(): Promise<ProviderServer> {
    const server = new ProviderServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  /** Address of the server, without a trailing slash. */
  get origin(): string {
    const address: AddressInfo | string | null = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the server is not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  /** Appends answers to the queue. */
  script(...answers: readonly ScriptedAnswer[]): void {
    this.#script.push(...answers);
  }

  /** Returns the reasons of all refusals. */
  get faults(): string[] {
    return this.requests.flatMap(({ faults }) => faults);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Streams the rest of the paused answers. */
  release(): void {
    for (const finish of this.#hanging.splice(0)) finish();
  }

  async #stream(
    response: ServerResponse,
    { events, issued }: SpokenAnswer,
    hangsAfter?: number,
  ): Promise<void> {
    const write = ({ name, data }: SpokenAnswer["events"][number]) => {
      const text = typeof data === "string" ? data : JSON.stringify(data);
      response.write(`${name === undefined ? "" : `event: ${name}\n`}data: ${text}\n\n`);
    };
    response.writeHead(200, { "content-type": "text/event-stream" });
    events.slice(0, hangsAfter).forEach(write);
    if (hangsAfter === undefined) {
      response.end();
      return;
    }
    this.#hanging.push(() => {
      events.slice(hangsAfter).forEach(write);
      response.end();
      this.#issued.push(issued);
    });
    await once(response, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", this.origin).pathname;
    const body = fields(JSON.parse(await readText(request)));
    if (path === "/v1/responses/compact") {
      const faults = checkOpenAIResponsesRequest(body, { issued: this.#issued });
      this.requests.push({ path, body, faults });
      if (faults.length > 0) refuse(response, 400, faults);
      else send(response, 200, compactOpenAI(this.#nextId));
      return;
    }
    const protocol = PROTOCOLS.get(path);
    if (protocol === undefined) return refuse(response, 404, [`there is no ${path}`]);
    const faults = protocol.judge(body, this.#issued);
    this.requests.push({ path, body, faults });
    if (faults.length > 0) return refuse(response, 400, faults);
    const answer = this.#script.shift();
    // Clients retry after 5xx, and a missing line of the script would be a test that hangs.
    if (answer === undefined) return refuse(response, 400, ["the script has no answer left"]);
    const spoken = protocol.speak(answer, String(body["model"]), this.#nextId);
    if (answer.hangsAfter === undefined) this.#issued.push(spoken.issued);
    if (body["stream"] === true) await this.#stream(response, spoken, answer.hangsAfter);
    else send(response, 200, spoken.body);
  }

  readonly #nextId: NextId = (prefix) => {
    this.#ids++;
    return `${prefix}_${String(this.#ids).padStart(8, "0")}`;
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  for await (const piece of request) text += String(piece);
  return text;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function refuse(response: ServerResponse, status: number, faults: readonly string[]): void {
  const error = { type: "invalid_request_error", message: faults.join("\n"), code: null, param: null };
  send(response, status, { type: "error", error });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

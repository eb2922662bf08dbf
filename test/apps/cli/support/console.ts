import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { run } from "../../../../src/apps/cli/run.ts";
import { removeFolder } from "../../../support/remove-folder.ts";
import { TestDatabase } from "./stores.ts";
import { folderWithTrash } from "./trash.ts";

/** The moment at which the examples of the documents run. */
const NOW_MS = Date.parse("2026-02-10T12:00:00.000Z");

const DAY_MS = 86_400_000;

/** The folder of the project in the documents. */
const SHOWN_FOLDER = "/home/ada/code";

/** Makes a temporary folder whose path is as long, so that lines break alike and files are of the same size. */
const FOLDER_PREFIX = "/tmp/ab-";

/** A session of the documents, made of a fixture. */
interface Example {
  readonly fixture: string;
  readonly name: string;
  readonly id: string;
  /** Days by which its times are moved. */
  readonly days: number;
}

const EXAMPLES: readonly Example[] = [
  { fixture: "v3/fix-the-totals", name: "totals", id: "019c4512-8a00-7c1e-9b42-51d07e3fa6c8", days: 7 },
  { fixture: "branches/v3-siblings", name: "refunds", id: "019c3f2b-1400-7a90-8d11-0c94b27e5f30", days: 6 },
  { fixture: "branches/v3-summaries", name: "fonts", id: "019c34b0-6e00-7d04-b3a7-92e61f08cd15", days: 2 },
  { fixture: "broken/v3-torn-tail", name: "damaged", id: "019c2f87-d200-7be2-a06c-7714c8f9e03b", days: -3 },
  { fixture: "v1/fix-the-totals", name: "old", id: "0199d8e6-4b00-7f31-8c5d-e42a906b17fd", days: -120 },
];

/** A session in which something fails, outside of the folder of sessions. */
const NIGHTLY = "nightly.jsonl";
const NIGHTLY_ID = "019c4610-2200-7b3c-8e11-6f0a5d94c7b2";

/** Makes the lines of that session. */
function nightlyLines(cwd: string): object[] {
  const message = (number: number, given: object) => ({
    type: "message",
    id: `e000000${number}`,
    parentId: number === 1 ? null : `e000000${number - 1}`,
    timestamp: `2026-02-10T03:0${number}:00.000Z`,
    message: { ...given, timestamp: Date.parse(`2026-02-10T03:0${number}:00.000Z`) },
  });
  const answer = (input: number, cacheRead: number, output: number, total: number, ...content: object[]) => {
    const cost = { input: total, output: 0, cacheRead: 0, cacheWrite: 0, total };
    const usage = { input, output, cacheRead, cacheWrite: 0, totalTokens: input + cacheRead + output, cost };
    const model = { api: "messages", provider: "acme", model: "acorn-2" };
    return { role: "assistant", content, ...model, usage, stopReason: "stop" };
  };
  const call = (id: string, command: string) => ({
    type: "toolCall",
    id,
    name: "bash",
    arguments: { command },
  });
  const result = (toolCallId: string, text: string, isError: boolean) => ({
    role: "toolResult",
    toolCallId,
    toolName: "bash",
    content: [{ type: "text", text }],
    isError,
  });
  return [
    { type: "session", version: 3, id: NIGHTLY_ID, timestamp: "2026-02-10T03:00:00.000Z", cwd },
    message(1, { role: "user", content: "Run the checks and fix what fails." }),
    message(2, answer(1850, 0, 31, 0.0061, call("c1", "npm run lint"))),
    message(3, result("c1", "No problems found.", false)),
    message(4, answer(120, 1850, 28, 0.0012, call("c2", "npm test"))),
    message(
      5,
      result(
        "c2",
        "> till@1.0.0 test\n> tap\n\nok 1 - a receipt without items\nnot ok 2 - a discount\nError: expected 2997, got 2996.9999\n\nCommand exited with code 1",
        true,
      ),
    ),
    message(6, answer(190, 1970, 64, 0.0018, { type: "text", text: "The total is rounded too late." })),
  ];
}

/** What ends a line whose output goes into a pipe. */
const PIPE = " | cat";

/** Ids as this library makes them: of a session, and of an entry. */
const NEW_ID =
  /(?<![0-9A-Za-z])[0-9a-f]{8}(?:-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-z])|(?![-0-9A-Za-z]))/g;

/** A project with sessions in it, at which the examples of the documents are tried. */
export class Project {
  readonly #folder: string;
  /** The one behind every address: nobody waits for a server. */
  readonly #database = new TestDatabase();
  #known: readonly string[] = [];
  readonly #renamed = new Map<string, string>();

  /** Makes the project for one test. */
  constructor() {
    folderWithTrash();
    this.#folder = mkdtempSync(FOLDER_PREFIX);
    vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
    onTestFinished(() => {
      vi.useRealTimers();
      removeFolder(this.#folder);
    });
    mkdirSync(join(this.#folder, "till", "sessions"), { recursive: true });
    for (const example of EXAMPLES) this.#write(example);
    for (const name of [".claude", ".codex"]) mkdirSync(join(this.#folder, name));
    writeFileSync(join(this.#folder, ".claude", "settings.json"), '{\n  "model": "opus"\n}\n');
    const nightly = nightlyLines(join(this.#folder, "till")).map((line) => JSON.stringify(line));
    this.#known = [...this.#known, NIGHTLY_ID];
    writeFileSync(join(this.#folder, "till", NIGHTLY), `${nightly.join("\n")}\n`);
  }

  /**
   * Carries out a block of a document: lines that begin with `$ `, and behind each what it writes.
   *
   * @returns The block with what was written now.
   */
  async play(block: string): Promise<string> {
    const lines: string[] = [];
    let code = 0;
    for (const line of block.split("\n").filter((one) => one.startsWith("$ "))) {
      lines.push(line);
      const isPiped = line.endsWith(PIPE);
      const [program, ...words] = splitWords(line.slice(2, isPiped ? -PIPE.length : undefined));
      if (line === "$ echo $?") lines.push(String(code));
      else if (program !== "sessiontree") throw new Error(`Only sessiontree can be run here: ${line}`);
      else {
        const written: string[] = [];
        code = await this.#run(words, written, isPiped);
        const text = this.#shown(written.join(""));
        if (text !== "") lines.push(text.replace(/\n$/, ""));
      }
    }
    return lines.join("\n");
  }

  /** Runs a command line as in a terminal of 80 columns, or in a pipe, with nobody at the keyboard. */
  async #run(words: readonly string[], written: string[], isPiped: boolean): Promise<number> {
    const stream = { write: (text: string) => written.push(text) };
    return run(words, {
      stdout: isPiped ? stream : { ...stream, isTTY: true, columns: 80 },
      stderr: stream,
      env: {
        NO_COLOR: "1",
        HOME: this.#folder,
        PI_CODING_AGENT_SESSION_DIR: join(this.#folder, "till", "sessions"),
      },
      cwd: join(this.#folder, "till"),
      now: () => NOW_MS,
      stores: this.#database,
      // What goes on until it is interrupted is interrupted at once.
      untilInterrupted: () => AbortSignal.abort(),
    });
  }

  #write({ fixture, name, id, days }: Example): void {
    const url = new URL(`../../../../fixtures/${fixture}.jsonl`, import.meta.url);
    const text = readFileSync(url, "utf8")
      .replace(/019c22f0-4e00-7000-8000-[0-9a-f]{12}/g, id)
      .replaceAll("/home/ada/till", join(this.#folder, "till"))
      .replace(/(?<=")20\d\d-\d\d-\d\dT[\d:.]+Z(?=")/g, (time) => moved(Date.parse(time), days).toISOString())
      .replace(/(?<="timestamp":)\d{13}/g, (time) => String(moved(Number(time), days).getTime()));
    this.#known = [...this.#known, ...(text.match(NEW_ID) ?? [])];
    writeFileSync(join(this.#folder, "till", "sessions", `${name}.jsonl`), text);
  }

  /** Writes paths as the document has them, and ids that are new each time as numbers. */
  #shown(text: string): string {
    return text.replaceAll(this.#folder, SHOWN_FOLDER).replace(NEW_ID, (id) => {
      if (this.#known.some((known) => known.startsWith(id))) return id;
      const number = this.#renamed.size + 1;
      const renamed = this.#renamed.get(id) ?? id.slice(0, -1).replace(/[0-9a-f]/g, "0") + number;
      this.#renamed.set(id, renamed);
      return renamed;
    });
  }
}

function moved(timeMs: number, days: number): Date {
  return new Date(timeMs + days * DAY_MS);
}

/** Splits a command line as a shell does, quotes included and nothing else. */
export function splitWords(line: string): string[] {
  const words = line.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

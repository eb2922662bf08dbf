/**
 * Measures how often a question about past conversations finds a session that answers it, next to plain BM25.
 *
 * Usage: npx tsup --silent && npx tsx test/bench/questions.ts [--corpus FOLDER] [--sessions 1000] [--bytes 250000]
 * Reads conversations of LoCoMo (`{ sessions: [{ id, date, turns }], questions }`), which are not part of the package, and
 * prints for each search: the part of the questions with a right session among the first 5 and 10, and with a right turn among
 * the first 5 turns. Then asks a thousand made-up sessions of 250 MB, each time in a new process.
 */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { z } from "zod";
import { searchSessions } from "../../src/catalog/search/search.ts";
import { seededRandom } from "./data.ts";

const { values } = parseArgs({
  options: {
    corpus: {
      type: "string",
      default: fileURLToPath(new URL("../../../shared/corpus-questions", import.meta.url)),
    },
    sessions: { type: "string", default: "1000" },
    bytes: { type: "string", default: "250000" },
    data: { type: "string", default: join(tmpdir(), "sessiontree-bench-data") },
  },
});

const Conversation = z.object({
  sessions: z.array(
    z.object({
      id: z.string(),
      date: z.string(),
      turns: z.array(z.object({ speaker: z.string(), id: z.string(), text: z.string() })),
    }),
  ),
  questions: z.array(
    z.object({
      question: z.string(),
      category: z.number(),
      sessions: z.array(z.string()),
      turns: z.array(z.string()),
    }),
  ),
});
type Conversation = z.infer<typeof Conversation>;

/** Sessions and turns, best first. */
interface Found {
  readonly sessions: readonly string[];
  readonly turns: readonly string[];
}

type Ask = (question: string) => Promise<Found>;

/** Parses "1:56 pm on 8 May, 2023" to Unix milliseconds. */
function parseDate(date: string): number {
  const [time = "", day = ""] = date.split(" on ");
  return Date.parse(`${day} ${time} UTC`);
}

/** Writes a conversation as session files. */
function writeConversation(folder: string, { sessions }: Conversation): void {
  mkdirSync(folder, { recursive: true });
  for (const { id, date, turns } of sessions) {
    const start = parseDate(date);
    const timestamp = new Date(start).toISOString();
    const lines: object[] = [{ type: "session", version: 3, id, timestamp, cwd: "/conversation" }];
    const [first] = turns;
    let parentId: string | null = null;
    for (const [i, turn] of turns.entries()) {
      const role = turn.speaker === first?.speaker ? "user" : "assistant";
      const message = {
        role,
        content: [{ type: "text", text: `${turn.speaker}: ${turn.text}` }],
        timestamp: start + i,
      };
      lines.push({ type: "message", id: turn.id, parentId, timestamp, message });
      parentId = turn.id;
    }
    writeFileSync(join(folder, `${id}.jsonl`), `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  }
}

function makeOurs(folder: string, cacheDir: string, match: "all" | "any"): Ask {
  return async (question) => {
    const sessions = new Set<string>();
    const turns: string[] = [];
    const options = { sessionDir: folder, cwd: "/conversation", cacheDir, match, ranked: true } as const;
    for await (const hit of searchSessions(question, options)) {
      sessions.add(hit.session.id);
      turns.push(hit.entryId);
      if (sessions.size >= 10) break;
    }
    return { sessions: [...sessions], turns };
  };
}

const STOP_WORDS = new Set(
  `a about an and any are as at be been but by can could did do does for from had has have he her him his how i if in is it
  its just me my no not of on or our out she so that the their them then there these they this those to up was we were what
  when where which while who whom why will with would you your`.split(/\s+/),
);

/** Returns words without stop words and with a crude stem. */
function toTerms(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words
    .filter((word) => !STOP_WORDS.has(word))
    .map((word) => word.replace(/(?<=...)(?:ing|ed|es|s)$/u, ""));
}

/** Plain BM25 over turns: the baseline. */
function makePlain({ sessions }: Conversation): Ask {
  const documents = sessions.flatMap(({ id, turns }) =>
    turns.map((turn) => {
      const terms = toTerms(`${turn.speaker}: ${turn.text}`);
      const counts = new Map<string, number>();
      for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
      return { session: id, turn: turn.id, counts, length: terms.length };
    }),
  );
  const held = new Map<string, number>();
  for (const { counts } of documents)
    for (const term of counts.keys()) held.set(term, (held.get(term) ?? 0) + 1);
  const mean = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  return async (question) => {
    const terms = new Set(toTerms(question));
    const scored = documents.map((one) => {
      let score = 0;
      for (const term of terms) {
        const count = one.counts.get(term) ?? 0;
        const n = held.get(term) ?? 0;
        const rarity = Math.log(1 + (documents.length - n + 0.5) / (n + 0.5));
        score += (rarity * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * one.length) / mean));
      }
      return { ...one, score };
    });
    const best = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
    return {
      sessions: [...new Set(best.map(({ session }) => session))],
      turns: best.map(({ turn }) => turn),
    };
  };
}

/** Counts of questions with an expected result among the first ones. */
class Tally {
  #count = 0;
  readonly #found = { any5: 0, any10: 0, turns5: 0 };
  readonly #times: number[] = [];

  add(wanted: Conversation["questions"][number], found: Found, ms: number): void {
    const has = (list: readonly string[], some: readonly string[], first: number) =>
      some.some((one) => list.slice(0, first).includes(one)) ? 1 : 0;
    this.#count++;
    this.#found.any5 += has(found.sessions, wanted.sessions, 5);
    this.#found.any10 += has(found.sessions, wanted.sessions, 10);
    this.#found.turns5 += has(found.turns, wanted.turns, 5);
    this.#times.push(ms);
  }

  get line(): string {
    const part = (count: number) => (count / this.#count).toFixed(4);
    const times = this.#times.toSorted((a, b) => a - b);
    const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1);
    const { any5, any10, turns5 } = this.#found;
    return `any@5 ${part(any5)}  any@10 ${part(any10)}  turns@5 ${part(turns5)}  median ${at(0.5)} ms  longest ${at(1)} ms`;
  }
}

async function measureConversations(corpus: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "questions-"));
  const tallies = new Map<string, Tally>();
  try {
    for (const name of readdirSync(corpus).filter((one) => one.endsWith(".json"))) {
      const conversation = Conversation.parse(JSON.parse(readFileSync(join(corpus, name), "utf8")));
      const sessions = join(folder, name);
      writeConversation(sessions, conversation);
      const searches: Record<string, Ask> = {
        "plain BM25": makePlain(conversation),
        "match: all": makeOurs(sessions, join(folder, "cache"), "all"),
        "match: any": makeOurs(sessions, join(folder, "cache"), "any"),
      };
      for (const [label, ask] of Object.entries(searches)) {
        const tally = tallies.get(label) ?? new Tally();
        tallies.set(label, tally);
        for (const wanted of conversation.questions) {
          const start = performance.now();
          const found = await ask(wanted.question);
          tally.add(wanted, found, performance.now() - start);
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const [label, tally] of tallies) console.log(`${label.padEnd(12)} ${tally.line}`);
}

/** Made-up words, the first of which are as frequent as the first of a language. */
function makeText(random: () => number, words: readonly string[], bytes: number): string {
  const chosen: string[] = [];
  for (let length = 0; length < bytes; ) {
    const word = words[Math.floor(words.length ** random()) - 1] ?? "";
    chosen.push(word);
    length += word.length + 1;
  }
  return chosen.join(" ");
}

function makeWords(random: () => number, count: number): string[] {
  const syllables = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu zen tor mal".split(" ");
  const syllable = () => syllables[Math.floor(random() * syllables.length)] ?? "";
  return Array.from(
    { length: count },
    (_, i) => syllable() + syllable() + (i > 500 ? syllable() : "") + syllable(),
  );
}

/** Creates sessions of one project, unless they exist from an earlier run; returns words for questions. */
function makeSessions(folder: string, count: number, bytes: number): string[] {
  const random = seededRandom(40);
  const words = makeWords(random, 30_000);
  if (existsSync(folder)) return words;
  const temporary = `${folder}.tmp`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  for (let n = 0; n < count; n++) {
    const start = Date.UTC(2026, 0, 1) + n * 3_600_000;
    const id = `question-${n}`;
    const header = {
      type: "session",
      version: 3,
      id,
      timestamp: new Date(start).toISOString(),
      cwd: "/projects/bench",
    };
    const lines: string[] = [JSON.stringify(header)];
    let parentId: string | null = null;
    for (let size = 0, i = 0; size < bytes; i++) {
      const entry = String(i).padStart(8, "0");
      const role = ["user", "assistant", "toolResult"][i % 3] ?? "user";
      const content = [{ type: "text", text: makeText(random, words, role === "toolResult" ? 4_000 : 400) }];
      const call = role === "toolResult" ? { toolCallId: `call-${i}`, toolName: "read", isError: false } : {};
      const message = { role, content, ...call, timestamp: start + i * 1000 };
      const timestamp = new Date(start + i * 1000).toISOString();
      const line = JSON.stringify({ type: "message", id: entry, parentId, timestamp, message });
      lines.push(line);
      size += line.length + 1;
      parentId = entry;
    }
    writeFileSync(join(temporary, `${id}.jsonl`), `${lines.join("\n")}\n`);
  }
  renameSync(temporary, folder);
  return words;
}

/** Sends a question in a new process, as a command does; returns milliseconds. */
function askOnce(folder: string, cacheDir: string, question: string): number {
  const entry = new URL("../../dist/catalog.js", import.meta.url).href;
  const options = { sessionDir: folder, cacheDir, match: "any", limit: 10 };
  const script = `import { searchSessions } from ${JSON.stringify(entry)};
    let hits = 0;
    for await (const hit of searchSessions(${JSON.stringify(question)}, ${JSON.stringify(options)})) hits += hit.score > 0;
    if (hits !== 10) throw new Error(hits + " hits");`;
  return runNode(script);
}

function runNode(script: string): number {
  const start = performance.now();
  execFileSync(process.execPath, ["--input-type=module", "-e", script]);
  return performance.now() - start;
}

function measureMany(): void {
  const [count, bytes] = [Number(values.sessions), Number(values.bytes)];
  const folder = join(values.data, `questions-${count}-${bytes}`);
  const words = makeSessions(folder, count, bytes);
  const cacheDir = mkdtempSync(join(tmpdir(), "questions-cache-"));
  try {
    const random = seededRandom(41);
    const ask = () => askOnce(folder, cacheDir, `how did we ${makeText(random, words, 40)}?`);
    const bare = Math.min(...Array.from({ length: 5 }, () => runNode("")));
    console.log(`${count} sessions of ${bytes} bytes, beyond the ${bare.toFixed(0)} ms of node alone:`);
    for (let n = 1; n <= 5; n++) console.log(`  question ${n}: ${(ask() - bare).toFixed(0)} ms`);
  } finally {
    rmSync(cacheDir, { recursive: true, force: true });
  }
}

if (existsSync(values.corpus)) await measureConversations(values.corpus);
else console.log(`No conversations at ${values.corpus}: pass --corpus.`);
measureMany();

/**
 * Measures the first operations of a user in a newly started process: plain JavaScript, so that nothing else is loaded.
 *
 * Usage: fresh.mjs MODULE MEASURE PATH, where MEASURE is one of `measures`, or "import" or "import and open".
 */
const [module = "", measure = "", path = ""] = process.argv.slice(2);

const TURNS = 200;
const APPENDS = 20_000;
const usage = {
  ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const model = { api: "bench", provider: "bench", model: "m", stopReason: "stop" };

const userMessage = (i) => ({
  role: "user",
  content: `turn ${i} ${"of a benchmark ".repeat(40)}`,
  timestamp: i,
});

/** Creates a session in the folder at `path`. It has an answer, because pi writes nothing before the first one. */
function createSession({ SessionManager }) {
  const session = SessionManager.create(path, path);
  session.appendMessage({ role: "assistant", content: [], ...model, usage, timestamp: 0 });
  return session;
}

/** Returns the processor time of all threads, in milliseconds. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

const wallMs = () => performance.now();

/** Measures after the import: the clock, and the work, which returns its outcome. */
const measures = {
  open: {
    clock: wallMs,
    work: ({ SessionManager }) => SessionManager.open(path).buildSessionContext().messages.length,
  },
  turns: {
    clock: wallMs,
    work: (loaded) => {
      const session = createSession(loaded);
      let messages = 0;
      for (let i = 1; i <= TURNS; i++) {
        session.appendMessage(userMessage(i));
        if (i % 4 === 0) messages = session.buildSessionContext().messages.length;
      }
      return messages;
    },
  },
  appends: {
    clock: cpuMs,
    work: (loaded) => {
      const session = createSession(loaded);
      for (let i = 1; i <= APPENDS; i++) session.appendMessage(userMessage(i));
      return APPENDS;
    },
  },
};

const name = measure.replace("import and ", "");
const { clock, work } = measures[name] ?? { clock: wallMs, work: () => 1 };
const rssBeforeMb = process.memoryUsage().rss / 1e6;
const start = clock();
const loaded = await import(module);
const imported = clock();
const result = work(loaded);
const ms = clock() - (measure === name && name !== "import" ? imported : start);
const rssMb = process.resourceUsage().maxRSS / 1e3;
console.log(JSON.stringify({ ms, result, rssBeforeMb, rssMb }));

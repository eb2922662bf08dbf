import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { hasFirefox } from "./test/browser/support/firefox.ts";
import { PATIENCE_MS } from "./test/support/patience.ts";

/** What compares the sources with their documents, whatever is built. */
const SOURCE_TESTS = ["test/contract/{adapter-lines,api-reference,docs,public-names}.test.ts"];

// What lists are cached in while the tests run, so that nothing lands in the user's own cache.
const cache = fileURLToPath(new URL("./node_modules/.cache/sessiontree/xdg", import.meta.url));

/**
 * What a short run leaves out: who imports what, compiling the documents and their API reference, the examples as programs, wrong arguments, other
 * packages' types and suites, real files, servers for a chat, whether the suite for stores notices wrong ones, PGlite, whose start takes seconds for each
 * file, what waits for clocks, threads and collected garbage, and sources that must neither take long nor end a process, however large or hostile.
 */
const ONLY_FULL = [
  "test/interop/adapters/{acp-agent,ai-sdk-pages,langgraph-messages.property,langgraph-validation}.test.ts",
  "test/catalog/list/gram-filter.test.ts",
  "test/catalog/search/question-files.test.ts",
  "test/apps/cli/{deep-data,hostile-entries,keep}.test.ts",
  "test/compat/corpus.test.ts",
  "test/contract/{adapter-lines,api-reference,architecture,chat-app,docs,docs-checks,documented-names,first-agent,function-lines,function-names,other-runtimes,public-names,readme,unknown-values,wrong-arguments}.test.ts",
  "test/examples/{main-job,session-examples}.test.ts",
  "test/fault/{full-disk,interleaving-upgrades,stress}.test.ts",
  "test/session/fs/descriptors.test.ts",
  "test/interop/continue/corpus.test.ts",
  "test/interop/convert/hostile-values.test.ts",
  "test/interop/history/{continued-corpus,corpus,hostile-databases,hostile-sources,hostile-values,import-processes,incremental-import,source-process,watch-sessions}.test.ts",
  "test/core/jsonl/encode-deep.test.ts",
  "test/session/log/{entries-let-go,foreign-file,memory-after-reading,replace-file,weak-cache}.test.ts",
  "test/apps/mcp/clients.test.ts",
  "test/stores/postgres/**",
  "test/stores/sqlite/{runtimes,stress}.test.ts",
  "test/property/{hostile-entries,reading-bodies,tree-scale}.test.ts",
  "test/catalog/redaction/killed-commands.test.ts",
  "test/stores/remote/wrong-stores.test.ts",
  "test/types/{host-roles,pi-agent,pi-declarations,pi-state}.test.ts",
];

/**
 * What has a process for each file, since the package for the trash asks once for each process where that is, and timers are
 * counted in one; all other files share the processes of the workers.
 */
const ALONE = [
  "test/session/files/forget-session.test.ts",
  "test/catalog/trash/{restore,trash}.test.ts",
  "test/apps/cli/{completion,docs,foreign-files,import,prune,redact,restore,resume,rm,store,store-run}.test.ts",
  "test/interop/history/import-{beside,second-day}.test.ts",
  "test/stores/postgres/listener.test.ts",
  "test/catalog/redaction/*.test.ts",
];

/** Of these, what `.ci/run` tries on a real server as well, and with the build. */
const ON_SERVER = ["test/stores/postgres/**"];

/** What other projects test. */
const NOT_LIBRARY = ["test/{terminal,browser,postgres-server}/**"];

/** What Windows, or Wine, decides: everything that reads and writes the files of sessions, and imports into them. */
const ON_WINDOWS = [
  "test/{catalog,fault}/**/*.test.ts",
  "test/session/{files,fs,log,manager}/**/*.test.ts",
  "test/core/merge/**/*.test.ts",
  "test/apps/cli/windows-program.test.ts",
  "test/interop/history/{import-beside,import-second-day,kept-away,incremental-import,session-ids,watch-sessions}.test.ts",
  "test/stores/file/file-store.test.ts",
];

/** What says nothing about Windows there, or would take minutes: other systems' files, memory, and kills of child processes. */
const NOT_ON_WINDOWS = [
  "test/catalog/{query,redaction}/**",
  "test/catalog/**/{message-bytes,restore,search.property,summary.property,trash,trash-folders}.test.ts",
  "test/fault/{cut,full-disk,interleaving,interleaving-upgrades,kill,stress}.test.ts",
  "test/session/fs/descriptors.test.ts",
  "test/session/log/memory-after-reading.test.ts",
];

/** What is tested in Firefox as well, where it is installed: opening, keys, search, hits and errors in long texts, folds, links, copies, pages in files and served, lists. */
const IN_FIREFOX = ["test/browser/{copy,keyboard,list,list-search,page,spots}.test.ts"];

const LIBRARY = {
  include: ["test/**/*.test.ts"],
  globalSetup: ["test/support/set-up.ts"],
  setupFiles: ["test/support/process-home.ts"],
};

/** Seed of a full run. */
const FULL_SEED = 20_260_203;

/** Largest seed of a short run. */
const MAX_SEED = 1_000_000_000;

/**
 * Decides how much is tested, and returns whether all is.
 *
 * `--mode full` runs every test with all of its cases and a fixed seed; otherwise long tests try a tenth of theirs, with another
 * seed at every run, and ONLY_FULL is left out. `--mode rest` runs what was left out, but for ON_SERVER. `--mode dist` runs all
 * tests on the build, as Node itself loads it. Variables set by the caller win. Vitest evaluates this file again for each
 * project, without the mode, so the first decision is kept in the environment.
 */
function decideExtent(mode: string): string {
  const { env } = process;
  const isFirst = env["SESSIONTREE_TESTS"] === undefined;
  env["SESSIONTREE_TESTS"] ??= mode === "dist" ? "full" : ["full", "rest"].includes(mode) ? mode : "short";
  env["SESSIONTREE_TEST_TARGET"] ??= mode === "dist" ? "dist" : "src";
  const extent = env["SESSIONTREE_TESTS"];
  const isShort = extent === "short";
  env["SESSIONTREE_TEST_SHARE"] ??= isShort ? "0.1" : "1";
  env["SESSIONTREE_TEST_SEED"] ??= String(isShort ? Math.floor(Math.random() * MAX_SEED) : FULL_SEED);
  const { SESSIONTREE_TEST_SHARE: share, SESSIONTREE_TEST_SEED: seed } = env;
  if (isFirst)
    console.info(`Share of the cases of long tests: ${share}; SESSIONTREE_TEST_SEED=${seed} repeats them.`);
  return extent;
}

/**
 * `library` and `alone` need Node alone, as `windows` does on Windows; `terminal`, `browser` and `postgres-server` need tmux, Chromium and PostgreSQL; `browser-firefox` is there if Firefox is.
 */
export default defineConfig(({ mode }) => {
  const extent = decideExtent(mode);
  const target = process.env["SESSIONTREE_TEST_TARGET"] === "dist" ? "dist" : "src";
  const extension = target === "dist" ? "js" : "ts";
  const file = (name: string) => fileURLToPath(new URL(`./${target}/${name}.${extension}`, import.meta.url));
  const left = [
    ...(target === "dist" ? SOURCE_TESTS : []),
    ...(extent === "short" ? ONLY_FULL : extent === "rest" ? ON_SERVER : []),
  ];
  return {
    resolve: {
      alias: [
        { find: /^sessiontree$/, replacement: file("index") },
        { find: /^sessiontree\/([a-z]+)$/, replacement: file("$1") },
      ],
    },
    test: {
      env: { SESSIONTREE_TEST_TARGET: target, XDG_CACHE_HOME: cache },
      server: { deps: { external: [/\/dist\/[^/]+\.js$/] } },
      // A green run fits on a screen: what passes says nothing.
      reporters: ["minimal"],
      silent: "passed-only",
      // Tests of failing replacements hear these warnings; a person need not.
      execArgv: ["--disable-warning=SESSIONTREE_REPLACED"],
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: PATIENCE_MS } },
      // Two of them need a gigabyte; where there are more cores, there is more memory as a rule.
      maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
      projects: [
        {
          extends: true,
          test: {
            ...LIBRARY,
            ...(extent === "rest" && { include: ONLY_FULL }),
            name: "library",
            exclude: [...NOT_LIBRARY, ...left, ...ALONE],
            isolate: false,
          },
        },
        {
          extends: true,
          test: { ...LIBRARY, name: "alone", include: ALONE, exclude: left },
        },
        {
          extends: true,
          test: {
            ...LIBRARY,
            name: "windows",
            include: ON_WINDOWS,
            exclude: NOT_ON_WINDOWS,
            // Wine has no pipes between processes.
            pool: "threads",
            isolate: false,
          },
        },
        {
          extends: true,
          test: {
            name: "terminal",
            include: ["test/terminal/**/*.test.ts"],
            globalSetup: ["test/terminal/support/require-tmux.ts"],
          },
        },
        {
          extends: true,
          test: {
            name: "browser",
            include: ["test/browser/**/*.test.ts"],
            globalSetup: ["test/support/set-up.ts"],
            maxWorkers: 2,
            isolate: false,
          },
        },
        ...(hasFirefox()
          ? [
              {
                extends: true as const,
                test: {
                  name: "browser-firefox",
                  include: IN_FIREFOX,
                  globalSetup: ["test/support/set-up.ts"],
                  env: { SESSIONTREE_BROWSER: "firefox" },
                  maxWorkers: 2,
                  isolate: false,
                },
              },
            ]
          : []),
        {
          extends: true,
          test: {
            name: "postgres-server",
            include: ["test/postgres-server/**/*.test.ts"],
            // Each file has a server of its own, and some start many processes beside it.
            maxWorkers: 1,
            testTimeout: 180_000,
          },
        },
      ],
    },
  };
});

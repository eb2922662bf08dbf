import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { getErrorMessage } from "../../../core/format/errors.ts";
import type { HideSecrets } from "../../recall/cleaner.ts";
import type { Command, CommandCall } from "../command.ts";
import type { CliInput } from "../io.ts";
import { rare, textOption } from "../parameters.ts";
import { getPrices, PRICES } from "../prices.ts";
import { getScope, resolvePath } from "../session-argument.ts";
import { UsageError } from "../usage-error.ts";

/** The variable in which Claude Code tells servers the folder of the project. */
const PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR";

const PROJECT = textOption(
  "--project <folder>",
  "the project whose sessions are meant; default: the current folder",
);
const SECRETS = rare(
  textOption("--secrets <file>", "regular expressions, one a line; what they match is hidden in answers"),
);
/** `sessiontree mcp`: answers agents that ask about past sessions. */
export const command: Command = {
  details: `A server for MCP clients such as Claude Code, Codex, pi and OpenCode, which start it themselves; it answers on stdin and stdout, only reads, and needs no network. The package @modelcontextprotocol/server must be installed beside sessiontree, as npx does when it is named, too. docs/recall.md tells how to set it up, and what to tell an agent so that it asks.

The session in which an agent asks is left out of what is searched: the one that the call names, else the one that the environment names (CLAUDE_CODE_SESSION_ID, CODEX_THREAD_ID, PI_SESSION_ID) unless the project has a newer one, else those that are still being written.`,
  parameters: [PROJECT, SECRETS, PRICES],
  examples: [
    ["mcp", "what a client starts"],
    ["mcp --project ../shop", "about another project"],
    ["mcp --store postgres://user@host/database", "over the sessions of a database"],
  ],
  run: serveMcp,
};

async function serveMcp(call: CommandCall): Promise<void> {
  const { dir, get, io, note, stored, warn } = call;
  const { loadSdk } = await import("../../mcp/recall-server.ts");
  await loadSdk();
  const { Recall } = await import("../../recall/recall.ts");
  const { serveRecall } = await import("../../mcp/serve-recall.ts");
  const { makeFileSource: filesAsSource, makeStoreSource: storeAsSource } = await import(
    "../../recall/session-source.ts"
  );
  const folder = get(PROJECT) ?? io.env[PROJECT_VARIABLE];
  const cwd = folder ? resolvePath(io.cwd, folder) : io.cwd;
  // The agent may be about to make the folder.
  const scope = dir === undefined ? getScope(call, true) : { sessionDir: resolvePath(io.cwd, dir) };
  const recall = new Recall({
    source: stored === undefined ? filesAsSource(scope) : storeAsSource(await stored.store()),
    cwd,
    project: dir === undefined ? cwd : undefined,
    env: io.env,
    hide: await getSecrets(call),
    now: io.now,
    prices: getPrices(call),
  });
  const { stdin, stdout } = io;
  if (stdin?.isTTY === true)
    note("Waiting for an MCP client on stdin; docs/recall.md tells how to set one up. Ctrl-C ends it.");
  const input = stdin instanceof Readable ? stdin : Readable.from(toBytes(stdin ?? []));
  const output =
    stdout instanceof Writable
      ? stdout
      : new Writable({
          write: (chunk, _, done) => {
            stdout.write(String(chunk));
            done();
          },
        });
  await serveRecall(recall, { input, output, onError: (error) => warn(getErrorMessage(error)) });
}

/** The protocol's stream takes bytes alone. */
async function* toBytes(pieces: Iterable<never> | CliInput): AsyncGenerator<Uint8Array, void> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

/** @throws {UsageError} If the file cannot be read, or a line is no regular expression. */
async function getSecrets({ get, io }: CommandCall): Promise<HideSecrets | undefined> {
  const file = get(SECRETS);
  if (file === undefined) return undefined;
  const { secretPatterns } = await import("../../recall/cleaner.ts");
  try {
    return secretPatterns(readFileSync(resolvePath(io.cwd, file), "utf8"));
  } catch (error) {
    throw new UsageError(`${file} has no patterns of secrets: ${getErrorMessage(error)}`);
  }
}

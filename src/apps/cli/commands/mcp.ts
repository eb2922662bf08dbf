import { Readable, Writable } from "node:stream";
import { getErrorMessage } from "../../../core/format/errors.ts";
import type { Command, CommandCall } from "../command.ts";
import type { CliInput } from "../io.ts";
import { getPrices, PRICES } from "../prices.ts";
import { getSecrets, getSource, PROJECT, SECRETS } from "../recall-options.ts";
import { resolvePath } from "../session-argument.ts";

/** Environment variable that Claude Code uses to pass the project folder to servers. */
const PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR";

/** `sessiontree mcp`: answers agents' questions about past sessions. */
export const command: Command = {
  details: `A server for MCP clients such as Claude Code, Codex, pi and OpenCode, which start it themselves; it answers on stdin and stdout, only reads, and needs no network. The package @modelcontextprotocol/server must be installed next to sessiontree, which npx does if both are named. docs/recall.md explains how to set it up, and how to make an agent ask.

The session in which an agent asks is not searched: the one specified by the call, or else by the environment (CLAUDE_CODE_SESSION_ID, CODEX_THREAD_ID, PI_SESSION_ID) unless the project has a newer one, or else all sessions that are still being written.`,
  parameters: [PROJECT, SECRETS, PRICES],
  examples: [
    ["mcp", "what a client starts"],
    ["mcp --project ../shop", "about another project"],
    ["mcp --store postgres://user@host/database", "over the sessions of a database"],
  ],
  run: serveMcp,
};

async function serveMcp(call: CommandCall): Promise<void> {
  const { dir, get, io, note, warn } = call;
  const { loadSdk } = await import("../../mcp/recall-server.ts");
  await loadSdk();
  const { Recall } = await import("../../recall/recall.ts");
  const { serveRecall } = await import("../../mcp/serve-recall.ts");
  const folder = get(PROJECT) ?? io.env[PROJECT_VARIABLE];
  const cwd = folder ? resolvePath(io.cwd, folder) : io.cwd;
  const recall = new Recall({
    source: await getSource(call),
    cwd,
    project: dir === undefined ? cwd : undefined,
    env: io.env,
    hide: await getSecrets(call),
    now: io.now,
    prices: getPrices(call),
  });
  const { stdin, stdout } = io;
  if (stdin?.isTTY === true)
    note(
      "Waiting for an MCP client on stdin; docs/recall.md explains how to set one up. Press Ctrl-C to stop.",
    );
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

/** Converts chunks to bytes, because the protocol's stream accepts only bytes. */
async function* toBytes(pieces: Iterable<never> | CliInput): AsyncGenerator<Uint8Array, void> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

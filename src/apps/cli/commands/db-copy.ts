import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { isSessionError } from "../../../core/format/errors.ts";
import { findSessionById } from "../../../session/files/find-session.ts";
import type { SessionStore } from "../../../stores/contract/session-store.ts";
import { fileStore } from "../../../stores/file/file-store.ts";
import type { Command, CommandCall } from "../command.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import { isPiped, type SessionLocation } from "../named-session.ts";
import { argumentList, textOption } from "../parameters.ts";
import { resolvePath } from "../session-argument.ts";
import { isStoreUrl, parseStoreAddress } from "../store-address.ts";
import { getStores } from "../stored-sessions.ts";
import { formatFailures, UsageError } from "../usage-error.ts";

const SESSIONS = argumentList("<sessions...>", "the sessions");
const TO = textOption("--to <place>", "a folder, or the address of a database, such as sqlite:FILE");

interface Target {
  readonly store: SessionStore;
  getLocation(id: string): SessionLocation;
}

/** `sessiontree db copy`: copies sessions between folders and databases. */
export const command: Command = {
  details: `A copy has the id and the bytes of the original. Nothing is overwritten: a session whose id exists already is skipped, and the exit code is 1. With --store, ids and names are looked up in that database; a path is always a file.`,
  parameters: [SESSIONS, TO],
  examples: [
    ["db copy @last --to postgres://host@db.example/agents", "from a file into a database"],
    ["db copy @last --to sqlite:sessions.db", "into one file, created by db migrate"],
    ["db copy 019c4512 --store postgres://host@db/agents --to ./sessions", "and into a folder"],
  ],
  run: async (call) => {
    const target = await openTarget(call);
    try {
      let exitCode: ExitCode = EXIT_CODES.ok;
      for (const name of call.get(SESSIONS)) {
        if (!(await copyOne(call, name, target))) exitCode = EXIT_CODES.failed;
      }
      return exitCode;
    } finally {
      await target.store.close();
    }
  },
};

async function openTarget({ get, io }: CommandCall): Promise<Target> {
  const to = get(TO);
  if (to === undefined)
    throw new UsageError("Name the target: add --to and a folder, or the address of a database.");
  if (isStoreUrl(to)) {
    const { url, shown } = parseStoreAddress(to, TO.form);
    return {
      store: await getStores(io).open(url),
      getLocation: (id) => ({ text: `${id} in ${shown}`, json: { id, store: shown } }),
    };
  }
  if (/^(?!file:)[a-z][a-z0-9+.-]*:\/\//i.test(to)) {
    throw new UsageError(
      `${TO.form} must be a folder, or an address such as sqlite:FILE or postgres://user@host/database.`,
    );
  }
  const sessionDir = resolvePath(io.cwd, to);
  return {
    store: fileStore({ sessionDir }),
    getLocation: (id) => {
      const path = findSessionById({ sessionDir }, id) ?? sessionDir;
      return { text: path, json: { path } };
    },
  };
}

/** Copies a session and reports the result. A failure does not stop the remaining copies unless the database is unavailable. */
async function copyOne(call: CommandCall, name: string, { store, getLocation }: Target): Promise<boolean> {
  const { findSession, json, out, warn } = call;
  let subject = name;
  try {
    const session = await findSession(name);
    if (isPiped(name)) subject = session.location.text;
    const id = await store.importBytes(session.bytes());
    const location = getLocation(id);
    if (json) out.json({ id, ...location.json });
    else out.line(`Copied: ${toPlainLine(location.text)}`);
    return true;
  } catch (error) {
    if (!isSessionError(error) || error.code === "STORE_UNAVAILABLE") throw error;
    const [what, ...sessions] = formatFailures(error);
    warn(`${subject}: ${what}`, ...sessions);
    return false;
  }
}

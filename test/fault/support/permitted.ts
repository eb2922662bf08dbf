import { isSessionError, SessionManager, type SessionOptions } from "sessiontree";
import { user } from "./sessions.ts";

const [folder = "", old = ""] = process.argv.slice(2);

/** Appends to a new session, closes it, and returns the error. */
async function use(options: SessionOptions): Promise<string> {
  const session = SessionManager.create("/project", { sessionDir: folder, ...options });
  try {
    session.appendMessage(user("one"));
    await session.close();
    SessionManager.open(session.getSessionFile() ?? "").appendMessage(user("two"));
    const { length } = await SessionManager.list("/project", folder);
    return `appended, ${length} in the list`;
  } catch (error) {
    return describe(error);
  }
}

function describe(error: unknown): string {
  return isSessionError(error) ? `${error.code}: ${error.message}` : String(error);
}

/** Upgrades an old session by an append. */
function upgrade(): string {
  try {
    return SessionManager.open(old).appendMessage(user("two"));
  } catch (error) {
    return describe(error);
  }
}

const result = {
  plain: await use({}),
  withLease: await use({ lease: "fail" }),
  durable: await use({ durability: "fsync" }),
  upgrade: upgrade(),
};
console.log(JSON.stringify(result));

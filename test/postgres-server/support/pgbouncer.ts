import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, type Server, serverUser } from "./server.ts";

const PROGRAM = process.env["SESSIONTREE_PGBOUNCER"] ?? "/usr/sbin/pgbouncer";

/** Reason why no pooler can be started here; undefined if one can. */
export const missingPgBouncer = existsSync(PROGRAM)
  ? undefined
  : `${PROGRAM} is missing; apt-get install pgbouncer, or name it in SESSIONTREE_PGBOUNCER`;

/** A pooler for a server, with its databases `transactions` and `sessions`, named after their pool modes. */
export interface PgBouncer {
  url(database: "transactions" | "sessions"): string;
  stop(): Promise<void>;
}

/** Starts a pooler in a separate folder that listens on loopback only. */
export async function startPgBouncer(server: Server): Promise<PgBouncer> {
  const user = serverUser();
  const port = await freePort(server.host);
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-pgbouncer-"));
  const [settings, users] = [join(folder, "settings.ini"), join(folder, "users")];
  const database = (mode: string) =>
    `${mode}s = host=${server.host} port=${server.port} dbname=postgres pool_mode=${mode} pool_size=3`;
  writeFileSync(users, `"postgres" "${server.password}"\n`, { mode: 0o600 });
  writeFileSync(
    settings,
    [
      "[databases]",
      database("transaction"),
      database("session"),
      "[pgbouncer]",
      `listen_addr = ${server.host}`,
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = scram-sha-256",
      `auth_file = ${users}`,
      `logfile = ${join(folder, "log")}`,
    ].join("\n"),
    { mode: 0o600 },
  );
  if (user !== undefined) for (const path of [folder, settings, users]) chownSync(path, user.uid, user.gid);
  const child = spawn(PROGRAM, ["--quiet", settings], { ...user, cwd: folder, stdio: "ignore" });
  const ended = once(child, "close");
  await Promise.race([
    answers(server.host, port),
    ended.then(([code]) => {
      throw new Error(`${PROGRAM} ended with ${code}`);
    }),
  ]);
  return {
    url: (name) => server.url({ port }).replace(/postgres$/, name),
    async stop() {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until a port accepts connections. */
async function answers(host: string, port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, host);
    const isThere = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "close").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A PostgreSQL server in a separate folder that listens on loopback only. */
export interface Server {
  /** Folder of its files, including `server.crt` if it has the setting `ssl`. */
  readonly dataFolder: string;
  readonly port: number;
  readonly host: string;
  readonly password: string;
  /** Address for clients; another port is that of a proxy. */
  url(options?: { readonly port?: number; readonly user?: string; readonly password?: string }): string;
  start(): Promise<void>;
  /** Ends the server: immediately, as in a crash, or gracefully. */
  stop(mode: "immediate" | "fast"): Promise<void>;
  /** Creates a standby in recovery that follows this server. */
  startStandby(): Promise<Server>;
  /** Replaces the stopped server's data folder with a copy of another one. */
  restore(backup: string): Promise<void>;
  /** Promotes a standby. */
  promote(): Promise<void>;
  /** Stops the server and removes its folder. */
  remove(): Promise<void>;
}

const DEBIAN_FOLDER = "/usr/lib/postgresql";

/** Returns the folder of PostgreSQL's programs: SESSIONTREE_PG_BIN, or Debian's newest. */
function programs(): string {
  const given = process.env["SESSIONTREE_PG_BIN"];
  if (given !== undefined) return given;
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER) : [];
  const found = versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN_FOLDER, version, "bin"))
    .find((folder) => existsSync(join(folder, "initdb")));
  if (found !== undefined) return found;
  throw new Error(
    "PostgreSQL's programs were not found; apt-get install postgresql, or name their folder in SESSIONTREE_PG_BIN.",
  );
}

/** User that the server runs as: it refuses to run as root. */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const user of ["postgres", "nobody"]) {
    try {
      const number = (flag: string) =>
        Number(execFileSync("id", [flag, user], { encoding: "utf8", stdio: "pipe" }));
      return { uid: number("-u"), gid: number("-g") };
    } catch (error) {
      if (user === "nobody") throw error;
    }
  }
  return undefined;
}

/** Returns an unused loopback port. */
export async function freePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return address.port;
}

/** Creates the key and the self-signed certificate that a server with `ssl` reads from its data folder. */
function makeCertificate(data: string, user: ReturnType<typeof serverUser>): void {
  const args = ["-newkey", "rsa:2048", "-keyout", "server.key", "-out", "server.crt", "-days", "2"];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync("openssl", ["req", "-x509", "-nodes", ...args, ...subject], {
    ...user,
    cwd: data,
    stdio: "pipe",
  });
}

/**
 * Creates a cluster and starts its server.
 *
 * @param settings - Settings of postgresql.conf.
 * @param primary - Server that the standby follows.
 */
export async function startServer(
  settings: Readonly<Record<string, string>> = {},
  primary?: Server,
): Promise<Server> {
  const bin = programs();
  const user = serverUser();
  const host = "127.0.0.1";
  const port = await freePort(host);
  const password = primary?.password ?? randomBytes(12).toString("hex");
  const folder = mkdtempSync(join(tmpdir(), "sessiontree-postgres-"));
  const secret = join(folder, "secret");
  const data = join(folder, "data");
  const log = join(folder, "log");
  writeFileSync(secret, password, { mode: 0o600 });
  if (user !== undefined) for (const path of [folder, secret]) chownSync(path, user.uid, user.gid);

  const run = (program: string, args: readonly string[]) =>
    new Promise<void>((resolve, reject) => {
      const env = { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", PGPASSWORD: password };
      // The server inherits the streams and would keep a pipe open as long as it runs.
      const child = spawn(join(bin, program), args, { ...user, env, cwd: folder, stdio: "ignore" });
      child.on("error", reject);
      child.on("exit", (code) => {
        if (code === 0) resolve();
        else reject(new Error(`${program} ended with ${code}\n${readLog(log)}`));
      });
    });
  const options = {
    listen_addresses: host,
    port: String(port),
    unix_socket_directories: "",
    max_connections: "60",
    ...settings,
  };
  const flags = Object.entries(options).map(([name, value]) => `-c ${name}='${value}'`);
  const login = ["-U", "postgres"];
  if (primary === undefined) {
    await run("initdb", [
      "-D",
      data,
      ...login,
      "-E",
      "UTF8",
      "-A",
      "scram-sha-256",
      "--pwfile",
      secret,
      "-N",
    ]);
  } else {
    const address = ["-h", primary.host, "-p", String(primary.port)];
    await run("pg_basebackup", ["-D", data, ...login, ...address, "-R", "-X", "stream", "-c", "fast", "-N"]);
  }
  if (settings["ssl"] === "on") makeCertificate(data, user);

  const server: Server = {
    dataFolder: data,
    port,
    host,
    password,
    url: ({ port: other = port, user: name = "postgres", password: its = password } = {}) =>
      `postgres://${encodeURIComponent(name)}:${encodeURIComponent(its)}@${host}:${other}/postgres`,
    start: () => run("pg_ctl", ["-D", data, "-l", log, "-w", "-t", "60", "-o", flags.join(" "), "start"]),
    stop: (mode) => run("pg_ctl", ["-D", data, "-w", "-t", "60", "-m", mode, "stop"]),
    startStandby: () => startServer(settings, server),
    async restore(backup) {
      rmSync(data, { recursive: true });
      renameSync(backup, data);
    },
    promote: () => run("pg_ctl", ["-D", data, "-w", "-t", "60", "promote"]),
    async remove() {
      if (existsSync(join(data, "postmaster.pid"))) await server.stop("immediate");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

function readLog(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8").slice(-2_000) : "";
}

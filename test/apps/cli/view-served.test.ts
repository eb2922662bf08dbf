import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { get, request } from "node:http";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { PROGRAM } from "../../support/program.ts";
import { cli, temporaryFolder } from "./support/cli.ts";
import { readData } from "./support/page-data.ts";
import { serve } from "./support/served.ts";
import { Scribe } from "./support/sessions.ts";

const CHILD_ID = "0198aaaa-0000-7000-8000-00000000c41d";

function story(folder = temporaryFolder()): Scribe {
  const scribe = new Scribe(folder);
  scribe.user("What is wrong?");
  scribe.assistant("Nothing.");
  return scribe;
}

/** Returns the server's data in the page of a session. */
function sessionIn(page: string): {
  server: { bytesUrl: string; knownUrl: string; eventsUrl: string; usageUrl?: string };
} {
  return readData(page, "session") as ReturnType<typeof sessionIn>;
}

/** Sends a request with headers that `fetch` reserves. */
function ask(url: string, headers: { readonly [name: string]: string }): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).once("error", reject);
  });
}

test("--live serves the page on the loopback address, at an unguessable address, until interrupted", async () => {
  const { path } = story();
  const { url, stop } = await serve([path, "--live"]);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/session\/[\w-]{16}$/);
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get("cache-control")).toBe("no-store");
  const page = await response.text();
  expect(page).toContain("connect-src 'self'");
  const { server } = sessionIn(page);
  const bytes = await fetch(new URL(server.bytesUrl, url));
  expect(await bytes.text()).toBe(readFileSync(path, "utf8"));

  const { code, stderr } = await stop();
  expect([code, stderr]).toEqual([0, "sessiontree: Serving; press Ctrl-C to stop.\n"]);
  await expect(fetch(url)).rejects.toThrow();
});

test("the server exits with its process", async () => {
  const { path } = story();
  for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
    const child = spawn(process.execPath, [PROGRAM, "view", path, "--live"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const closed = once(child, "close");
    const [line]: unknown[] = await once(child.stdout, "data");
    const url = String(line).trim();
    expect((await fetch(url)).status).toBe(200);
    child.kill(signal);
    const [code]: unknown[] = await closed;
    if (signal === "SIGINT") expect(code).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  }
});

test("returns nothing without the token, under another name, or by another method", async () => {
  const { path } = story();
  const { url } = await serve([path, "--live"]);
  const { origin, pathname, port } = new URL(url);
  const [, token = "", , key] = pathname.split("/");
  const guessed = token.replace(/^./, (first) => (first === "A" ? "B" : "A"));
  for (const address of [
    "/",
    `/${guessed}/session/${key}`,
    `/session/${key}`,
    `/${token.slice(1)}/session/${key}`,
  ]) {
    const response = await fetch(origin + address);
    expect(response.status, address).toBe(403);
    expect(await response.text()).not.toContain("wrong");
  }
  expect(await ask(url, { Host: `evil.example:${port}` })).toBe(403);
  expect((await fetch(url, { method: "POST" })).status).toBe(405);
  for (const address of [
    `/${token}/`,
    `/${token}/session/other`,
    `/${token}/../../etc/passwd`,
    `/${token}/search?q=x`,
  ]) {
    expect((await fetch(origin + address)).ok, address).toBe(false);
  }
});

/** Reads events until a text arrives. */
async function readUntil(response: Response, wanted: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  if (response.body === null) throw new Error("No body.");
  for await (const piece of response.body) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    if (text.includes(wanted)) return text;
  }
  return text;
}

test("rejects an invalid address, and continues to serve", async () => {
  const { url } = await serve([story().path, "--live"]);
  const { hostname, port } = new URL(url);
  for (const path of ["//", "http://["]) {
    const status = await new Promise((resolve, reject) => {
      const asked = request({ hostname, port, path }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.once("error", reject).end();
    });
    expect(status, path).toBe(403);
  }
  expect((await fetch(url)).status).toBe(200);
});

test("starts a browser with a private file that redirects to the address", async () => {
  const opened: string[] = [];
  const { url, stop } = await serve([story().path, "--live"], {
    open: async (path) => {
      opened.push(path, readFileSync(path, "utf8"), (statSync(join(path, "..")).mode & 0o777).toString(8));
      return true;
    },
  });
  await expect.poll(() => opened.length).toBe(3);
  const [path = "", page, mode] = opened;
  expect(path).not.toContain(new URL(url).pathname.split("/")[1]);
  expect(page).toContain(`content="0; url=${url}"`);
  if (process.platform !== "win32") expect(mode).toBe("700");
  await stop();
  expect(existsSync(path)).toBe(false);
});

test("a deleted file ends nothing: its replacement is announced", async () => {
  const { path } = story();
  const { url } = await serve([path, "--live"]);
  const { server } = sessionIn(await (await fetch(url)).text());
  const text = readFileSync(path);
  const events = new URL(`${server.eventsUrl}&from=${text.length}`, url);
  const told = readUntil(await fetch(events), "replaced");
  rmSync(path);
  expect(await Promise.race([told, setTimeout(700, "waiting")])).toBe("waiting");
  // Another file might get the inode of the deleted one.
  writeFileSync(`${path}.other`, "");
  writeFileSync(path, text.subarray(0, 200));
  expect(await told).toMatch(/event: replaced/);
});

test("announces appended bytes, from a page's current position, and a replaced file", async () => {
  const scribe = story();
  const { path } = scribe;
  const { url } = await serve([path, "--live"]);
  const { server } = sessionIn(await (await fetch(url)).text());
  const size = readFileSync(path).length;
  const events = new URL(`${server.eventsUrl}&from=${size}`, url);
  const following = readUntil(await fetch(events), "id:");
  scribe.user("More.");
  const after = readFileSync(path);
  const added = after.subarray(size);
  expect(await following).toContain(`: following\n\n`);
  expect(await following).toContain(`\n\nid: ${after.length}\ndata: ${added.toString("base64")}\n\n`);

  const resumed = await fetch(events, { headers: { "Last-Event-ID": String(after.length) } });
  const rest = readUntil(resumed, "replaced");
  appendFileSync(path, "\n");
  writeFileSync(`${path}.new`, "other");
  renameSync(`${path}.new`, path);
  expect(await rest).toMatch(/event: replaced\ndata:\n\n$/);
  // Nor does a page get the bytes of another file than its own.
  expect((await fetch(new URL(server.bytesUrl, url))).status).toBe(409);
});

test("the list of a folder, or of all projects, links to each session, and searches contents", async () => {
  const folder = temporaryFolder();
  story(folder);
  const other = new Scribe(folder, "0198aaaa-0000-7000-8000-000000000002");
  other.user("Look for herons.");
  for (const args of [[folder], ["--all", "--dir", folder]]) {
    const { url, stop } = await serve(args);
    const page = await (await fetch(url)).text();
    const { sessions, searchUrl } = readData(page, "sessions") as {
      sessions: { href: string; title: string }[];
      searchUrl: string;
    };
    expect(sessions.map(({ title }) => title).sort()).toEqual(["Look for herons.", "What is wrong?"]);
    const href = sessions.find(({ title }) => title.includes("herons"))?.href ?? "";
    const opened = await (await fetch(new URL(href, url))).text();
    expect(readData(opened)).toMatchObject({ indexUrl: new URL(url).pathname });
    const bytes = await fetch(new URL(sessionIn(opened).server.bytesUrl, url));
    expect(await bytes.text()).toContain("Look for herons.");
    const found: unknown = await (await fetch(new URL(`${searchUrl}?q=HERONS`, url))).json();
    const hit = {
      session: href,
      role: "user",
      snippet: "Look for herons.",
      href: expect.stringContaining(`${href}#entry=`),
    };
    expect(found).toEqual({ hits: [expect.objectContaining(hit)], hasMore: false });
    const none: unknown = await (await fetch(new URL(`${searchUrl}?q=`, url))).json();
    expect(none).toEqual({ hits: [], hasMore: false });
    await stop();
  }
});

test.each([
  [500, false],
  [501, true],
])("a search that finds %i entries returns 500; whether there are more: %s", async (count, hasMore) => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  for (let at = 0; at < count; at++) scribe.user("herons");
  const { url } = await serve([folder]);
  const { searchUrl } = readData(await (await fetch(url)).text(), "sessions") as { searchUrl: string };
  const found: unknown = await (await fetch(new URL(`${searchUrl}?q=herons`, url))).json();
  expect(found).toMatchObject({ hits: { length: 500 }, hasMore });
});

/** A session and its subagent's, with a damaged line. */
function family(folder: string): { scribe: Scribe; child: Scribe } {
  const scribe = story(folder);
  scribe.session.appendCustomEntry("note");
  const child = new Scribe(folder, CHILD_ID, folder, scribe.path);
  child.session.appendCustomEntry("sessiontree.subagent", { toolCallId: "call-1" });
  child.assistant("Something.", { model: "acorn-2" });
  appendFileSync(child.path, "{ damaged\n");
  return { scribe, child };
}

test("a list returns its sessions' usage on request, by day and model, and those of subagents", async () => {
  const folder = temporaryFolder();
  const { scribe, child } = family(folder);
  const { url } = await serve([folder]);
  const page = await (await fetch(url)).text();
  const { sessions, usageUrl } = readData(page, "sessions") as {
    sessions: { href: string; path: string }[];
    usageUrl: string;
  };
  const hrefOf = (path: string) => sessions.find((one) => one.path === path)?.href ?? "";
  const [parentHref, childHref] = [hrefOf(scribe.path), hrefOf(child.path)];
  expect(sessions).toContainEqual(expect.objectContaining({ href: childHref, startedBy: parentHref }));
  const told: unknown = await (await fetch(new URL(usageUrl, url))).json();
  const sums = { calls: 1, total: 15, cost: null, estimated: null, unpriced: 15 };
  const groupOf = (session: string, model: string) =>
    expect.objectContaining({ session, model: `anthropic/${model}`, day: expect.any(String), ...sums });
  expect(told).toMatchObject({
    sessions: { [parentHref]: { source: null }, [childHref]: { source: null, startedBy: parentHref } },
  });
  const { groups } = told as { groups: unknown[] };
  expect(groups).toHaveLength(3);
  expect(groups).toEqual(
    expect.arrayContaining([
      groupOf(parentHref, "claude"),
      groupOf(parentHref, "acorn-2"),
      groupOf(childHref, "acorn-2"),
    ]),
  );
  const prices = join(folder, "prices.txt");
  writeFileSync(prices, "none");
  const refused = await cli(["view", folder, "--prices", prices]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("has no prices")]);
  const alone = await cli(["view", scribe.path, "--prices", prices]);
  expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("--prices is for a list")]);
});

test("the page of a listed session shows its usage with its subagents', and prices for its answers", async () => {
  const folder = temporaryFolder();
  const { scribe } = family(folder);
  const prices = join(folder, "prices.json");
  writeFileSync(prices, JSON.stringify({ claude: { input: 1_000_000, output: 2_000_000 } }));
  const { url } = await serve([folder, "--prices", prices]);
  const { sessions } = readData(await (await fetch(url)).text(), "sessions") as {
    sessions: { href: string; path: string }[];
  };
  const href = sessions.find(({ path }) => path === scribe.path)?.href ?? "";
  const { usageUrl = "" } = sessionIn(await (await fetch(new URL(href, url))).text()).server;
  const answer = scribe.session.getEntries().find((entry) => JSON.stringify(entry).includes("Nothing."));
  expect(await (await fetch(new URL(usageUrl, url))).json()).toEqual({
    spent: expect.objectContaining({ calls: 2, total: 30, cost: null, estimated: 20, unpriced: 15 }),
    estimates: { [answer?.id ?? ""]: 20 },
  });
});

test("--live ends at a given entry, and --json prints the address", async () => {
  const scribe = story();
  const first = scribe.session.getEntries()[0]?.id ?? "";
  const { url } = await serve([scribe.path, "--live", "--leaf", first, "--json"]);
  expect(JSON.parse(url)).toEqual({ url: expect.stringMatching(new RegExp(`#end=${first}$`)) });
});

test("rejects nonsensical arguments before it serves anything", async () => {
  const { path } = story();
  for (const [args, reason] of [
    [["--all", path], "Name a session, or give --all"],
    [["--all", "-o", "x.html"], "leave out -o"],
    [["--all", "--leaf", "x"], "--leaf needs one session"],
    [[path, "--live", "-o", "x.html"], "leave out -o"],
  ] as const) {
    const { code, stderr } = await cli(["view", ...args]);
    expect(code, args.join(" ")).toBe(2);
    expect(stderr).toContain(reason);
  }
});

test("a page lists the sessions of subagents with a known file: by path, by ID, in the session's folder", async () => {
  const scribe = story();
  const folder = join(scribe.path, "..");
  const byPath = join(folder, "by-path.jsonl");
  const byId = join(folder, `2026_${CHILD_ID}.jsonl`);
  const inside = join(scribe.path.replace(/\.jsonl$/, ""), "inside.jsonl");
  mkdirSync(join(inside, ".."));
  for (const child of [byPath, byId, inside]) writeFileSync(child, readFileSync(scribe.path));
  for (const [name, value] of [
    ["sessionFile", "./by-path.jsonl"],
    ["sessionId", CHILD_ID],
    ["childSession", "inside"],
    ["sessionId", "nobody"],
    ["session_path", "/no/such/file.jsonl"],
    ["sessionFile", scribe.path],
  ] as const) {
    scribe.session.appendCustomEntry("task", { [name]: value });
  }
  const known = { "./by-path.jsonl": byPath, [CHILD_ID]: byId, inside };
  const { stdout } = await cli(["export", scribe.path, "--html"]);
  expect(readData(stdout, "session")["known"]).toEqual(
    Object.fromEntries(Object.entries(known).map(([name, path]) => [name, { path }])),
  );
  // A server also has their pages.
  const { url } = await serve([scribe.path, "--live"]);
  const { server } = sessionIn(await (await fetch(url)).text());
  const served = (await (await fetch(new URL(server.knownUrl, url))).json()) as typeof known;
  const child = served[CHILD_ID] as unknown as { href: string };
  expect((await fetch(new URL(child.href, url))).status).toBe(200);
});

test("a session that cannot be read is not a link", async () => {
  const scribe = story();
  const folder = join(scribe.path, "..");
  const file = join(folder, "inside");
  writeFileSync(file, "no folder");
  const names = ["/x/\0.jsonl", `./${"x".repeat(300)}.jsonl`, "inside/a.jsonl", "nobody"];
  for (const name of names) scribe.session.appendCustomEntry("task", { sessionFile: name });
  // A session without the suffix: the folder with its name is the file itself.
  const bare = join(folder, "bare");
  renameSync(scribe.path, bare);
  const { stdout, stderr } = await cli(["export", bare, "--html"]);
  expect(stderr).toBe("");
  expect(readData(stdout, "session")["known"] ?? {}).toEqual({});
});

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** Page without a session: a script and a style sheet, built from src/apps/page. */
export interface PageAsset {
  readonly script: string;
  readonly style: string;
}

/**
 * Folder of the page: next to the program in the package, or the output of `npm run build:page` when running from the sources.
 */
const FOLDER = import.meta.url.endsWith(".ts")
  ? new URL("../../../../node_modules/.cache/sessiontree/page/", import.meta.url)
  : new URL("./page/", import.meta.url);

/** Reads the page, which must have been built if the program runs from the sources. */
export function readPageAsset(): PageAsset {
  const [script, style] = [new URL("page.js", FOLDER), new URL("style.css", FOLDER)];
  if (!existsSync(script) || !existsSync(style)) {
    throw new Error(
      'The page has not been built. Run "npm run build:page", or use an installed sessiontree.',
    );
  }
  return { script: readFileSync(script, "utf8"), style: readFileSync(style, "utf8") };
}

/** Another session that a page can link to. */
export interface KnownSession {
  readonly path: string;
  /** Address of its page; undefined without a server. */
  readonly href?: string;
}

/** Content of a page. */
export interface PageSource {
  /** Bytes of the session file; undefined for a page that fetches them from a server. */
  readonly bytes?: Uint8Array | undefined;
  /** Size of the file in bytes; default: the length of `bytes`. */
  readonly size?: number;
  /** Name of the file, without its folder. */
  readonly fileName: string;
  /** Absolute path of the file; undefined if the session has no file. */
  readonly path?: string | undefined;
  /** Entry whose path the page shows first; default: the session's leaf. */
  readonly leafId?: string | undefined;
  /** Existing sessions, keyed by the name that this session uses for them. */
  readonly known?: ReadonlyMap<string, KnownSession>;
  /**
   * Server addresses of the bytes, the sessions named in them, events for appended data, and the session's usage; only a page
   * with a server may send requests.
   */
  readonly server?:
    | {
        readonly bytesUrl: string;
        readonly knownUrl: string;
        readonly eventsUrl: string;
        readonly usageUrl?: string;
      }
    | undefined;
  readonly indexUrl?: string | undefined;
}

/** Page: its data, and whether it may send requests to its server. */
interface PageDocument {
  readonly dataId: "session" | "sessions";
  readonly data: object;
  readonly bytes?: Uint8Array | undefined;
  readonly isServed: boolean;
}

const BLOCK_BYTES = 1024 * 1024;

/** Compression level: nearly the same size as level 6, in a third of the time. */
const GZIP = { level: 3 };

/**
 * Creates the page of a session: one HTML file that contains everything and loads nothing.
 *
 * Only the page's own script and style sheet may run or apply, identified by their hashes. The session is stored in a block that
 * browsers do not run and that its content cannot close.
 *
 * @param asset - Default: the page included with the program.
 * @remarks Cost: O(bytes), with several copies in memory.
 */
export function makeHtmlPage(source: PageSource, asset: PageAsset = readPageAsset()): string {
  const { bytes, known, size = bytes?.length, ...others } = source;
  const links = known === undefined || known.size === 0 ? {} : { known: Object.fromEntries(known) };
  const data = { ...others, size, ...links };
  return makeDocument({ dataId: "session", data, bytes, isServed: source.server !== undefined }, asset);
}

/** Creates the page of a list of sessions, for a server that also serves the sessions. */
export function makeHtmlIndex(data: object, asset: PageAsset = readPageAsset()): string {
  return makeDocument({ dataId: "sessions", data, isServed: true }, asset);
}

function makeDocument({ dataId, data, bytes, isServed }: PageDocument, asset: PageAsset): string {
  const { script, style } = asset;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${makeContentSecurityPolicy(asset, isServed)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="sessiontree">
<link rel="icon" href="data:,">
<title>Session</title>
<style>${style}</style>
</head>
<body>
<div id="app"><noscript>This page needs JavaScript to show its session. It loads nothing from anywhere.</noscript></div>
<div id="print"></div>
<script type="application/json" id="${dataId}">${toHarmlessJson(data)}</script>
<script>${script}</script>
${bytes === undefined ? "" : encodeBlocks(bytes)}</body>
</html>
`;
}

/** Returns a policy that forbids everything except this script, this style sheet, and images embedded in the page. */
function makeContentSecurityPolicy({ script, style }: PageAsset, isServed: boolean): string {
  return [
    "default-src 'none'",
    `script-src '${hashText(script)}'`,
    `style-src '${hashText(style)}'`,
    "img-src data:",
    `connect-src ${isServed ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

function hashText(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/**
 * Encodes bytes as blocks that the page decompresses. Base64 cannot close a block, and preserves every line break, zero byte, and
 * invalid UTF-8 sequence.
 */
function encodeBlocks(bytes: Uint8Array): string {
  let blocks = "";
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    const base64 = gzipSync(bytes.subarray(at, at + BLOCK_BYTES), GZIP).toString("base64");
    blocks += `<script type="application/gzip">${base64}</script>\n`;
  }
  return blocks;
}

/** Encodes JSON without any `<`, so that neither an end tag nor a comment can begin in it. */
function toHarmlessJson(data: object): string {
  return JSON.stringify(data).replaceAll("<", "\\u003c");
}

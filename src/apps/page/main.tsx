import { type ComponentChild, render } from "preact";
import { getErrorMessage } from "../../core/format/errors.ts";
import { chooseEarlyEntries } from "./model/early-entries.ts";
import {
  type EmbeddedSession,
  readEmbedded,
  readKnown,
  readPagePieces,
  readStream,
} from "./model/embedded-session.ts";
import type { LinkedSession } from "./model/entry-facts.ts";
import { SessionEntries } from "./model/session-entries.ts";
import { readSessionList } from "./model/session-list.ts";
import { App } from "./ui/app.tsx";
import { useLiveSession } from "./ui/live-session.ts";
import { SessionIndex } from "./ui/session-index.tsx";

/** Size in bytes above which a session is shown before it has been read completely. */
const LARGE_BYTES = 4 * 1024 * 1024;

/** Starts the page: reads and draws the session, or the list of sessions, that it contains. */
async function startPage(root: HTMLElement): Promise<void> {
  try {
    const content = await takeContent();
    root.textContent = "";
    render(content, root);
  } catch (error) {
    root.textContent = `The session cannot be read: ${getErrorMessage(error)}`;
    throw error;
  }
}

/** Reads the content of the page, and removes its source elements so that the data is not stored twice. */
async function takeContent(): Promise<ComponentChild> {
  const [session, sessions] = [document.getElementById("session"), document.getElementById("sessions")];
  session?.remove();
  sessions?.remove();
  if (sessions !== null) return <SessionIndex list={readSessionList(sessions.textContent)} />;
  if (session === null) throw new TypeError("the page does not contain it; export it again");
  const embedded = readEmbedded(session.textContent);
  const { server } = embedded;
  const known = new Map(embedded.known);
  const entries = new SessionEntries(known, embedded.size);
  const pieces =
    server === undefined ? readPagePieces(document) : readStream((await askServer(server.bytesUrl)).body);
  for await (const piece of pieces) entries.append(piece);
  entries.end();
  // If this request fails, the page only lacks links.
  const areLinksKnown =
    server === undefined ? Promise.resolve() : askForKnown(server.knownUrl, known).catch(reportError);
  if (entries.bytes.size <= LARGE_BYTES) {
    await areLinksKnown;
    entries.readFacts();
  } else {
    entries.readEarlyFacts(chooseEarlyEntries(entries.index, embedded.leafId, location.hash));
  }
  return <SessionPage embedded={embedded} entries={entries} areLinksKnown={areLinksKnown} />;
}

/** Fetches from the server; reloads the page if the session's file has been replaced in the meantime. */
async function askServer(url: string): Promise<Response> {
  const response = await fetch(url);
  if (response.status === 409) location.reload();
  if (!response.ok) throw new TypeError(`the server answers ${response.status}`);
  return response;
}

async function askForKnown(url: string, known: Map<string, LinkedSession>): Promise<void> {
  for (const [name, one] of readKnown(await (await askServer(url)).json())) known.set(name, one);
}

interface SessionPageProps {
  readonly embedded: EmbeddedSession;
  readonly entries: SessionEntries;
  readonly areLinksKnown: Promise<void>;
}

function SessionPage({ embedded, entries, areLinksKnown }: SessionPageProps) {
  const live = useLiveSession(embedded, entries, areLinksKnown);
  const { session } = live;
  return (
    <App
      live={live}
      path={embedded.path}
      indexUrl={embedded.indexUrl}
      opening={embedded.leafId === undefined ? session.leaf : session.tree.find(embedded.leafId)}
    />
  );
}

const root = document.getElementById("app");
if (root !== null) void startPage(root);

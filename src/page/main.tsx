import { type ComponentChild, render } from "preact";
import { type EmbeddedSession, readEmbedded } from "./model/embedded-session.ts";
import { SessionEntries } from "./model/session-entries.ts";
import { readSessionList } from "./model/session-list.ts";
import { piecesInPage, piecesOf } from "./model/session-pieces.ts";
import { App } from "./ui/app.tsx";
import { useLiveSession } from "./ui/live-session.ts";
import { SessionIndex } from "./ui/session-index.tsx";

/** Starts the page: reads the session, or the list of sessions, that stands in it and draws it. */
async function start(root: HTMLElement): Promise<void> {
  try {
    const content = await takeContent();
    root.textContent = "";
    render(content, root);
  } catch (error) {
    root.textContent = `The session cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    throw error;
  }
}

/** What the page shows; what was read is kept once, not twice. */
async function takeContent(): Promise<ComponentChild> {
  const [session, sessions] = [document.getElementById("session"), document.getElementById("sessions")];
  session?.remove();
  sessions?.remove();
  if (sessions !== null) return <SessionIndex list={readSessionList(sessions.textContent)} />;
  if (session === null) throw new TypeError("the page lacks it; export it anew");
  const embedded = readEmbedded(session.textContent);
  return <SessionPage embedded={embedded} entries={await readEntries(embedded)} />;
}

async function readEntries({ known, size, server }: EmbeddedSession): Promise<SessionEntries> {
  const entries = new SessionEntries(known, size);
  const pieces = server === undefined ? piecesInPage(document) : piecesFrom(server.bytesUrl);
  for await (const piece of pieces) entries.append(piece);
  entries.end();
  return entries;
}

/** Yields the bytes that a server has; where another file has taken the path meanwhile, the page is asked for anew. */
async function* piecesFrom(url: string): AsyncGenerator<Uint8Array, void> {
  const { ok, status, body } = await fetch(url);
  if (status === 409) location.reload();
  if (!ok) throw new TypeError(`the server answers ${status}`);
  yield* piecesOf(body);
}

function SessionPage({ embedded, entries }: { embedded: EmbeddedSession; entries: SessionEntries }) {
  const live = useLiveSession(embedded, entries);
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
if (root !== null) void start(root);

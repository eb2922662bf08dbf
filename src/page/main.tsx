import { type ComponentChild, render } from "preact";
import { type EmbeddedSession, readEmbedded } from "./model/embedded-session.ts";
import { readSessionList } from "./model/session-list.ts";
import { App } from "./ui/app.tsx";
import { useLiveSession } from "./ui/live-session.ts";
import { SessionIndex } from "./ui/session-index.tsx";

/** Starts the page: reads the session, or the list of sessions, that stands in it and draws it. */
function start(): void {
  const root = document.getElementById("app");
  const content = takeContent();
  if (root === null || content === undefined)
    throw new TypeError("the page lacks its session: export it anew");
  root.textContent = "";
  render(content, root);
}

/** What the page shows; what was read is kept once, not twice. */
function takeContent(): ComponentChild {
  const [session, sessions] = [document.getElementById("session"), document.getElementById("sessions")];
  session?.remove();
  sessions?.remove();
  if (session !== null) return <SessionPage embedded={readEmbedded(session.textContent)} />;
  return sessions === null ? undefined : <SessionIndex list={readSessionList(sessions.textContent)} />;
}

function SessionPage({ embedded }: { embedded: EmbeddedSession }) {
  const live = useLiveSession(embedded);
  const { session } = live;
  return (
    <App
      live={live}
      indexUrl={embedded.indexUrl}
      opening={embedded.leafId === undefined ? session.leaf : session.tree.find(embedded.leafId)}
    />
  );
}

start();

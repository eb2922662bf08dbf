import { render } from "preact";
import { readEmbedded } from "./model/embedded-session.ts";
import { makeSessionModel } from "./model/session-model.ts";
import { App } from "./ui/app.tsx";

/** Starts the page: reads the session that stands in it and draws it. */
function start(): void {
  const [data, root] = [document.getElementById("session"), document.getElementById("app")];
  if (data === null || root === null) throw new TypeError("the page lacks its session: export it anew");
  const embedded = readEmbedded(data.textContent);
  const session = makeSessionModel(embedded);
  // What was read is kept once, not twice.
  data.remove();
  root.textContent = "";
  render(
    <App session={session} opening={session.ordinals.get(embedded.leafId ?? "") ?? session.leaf} />,
    root,
  );
}

start();

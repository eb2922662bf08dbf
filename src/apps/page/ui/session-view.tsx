import { isConversationShown } from "../model/navigation.ts";
import type { PathView } from "../model/path-items.ts";
import { ChangesView } from "./changes-view.tsx";
import { Conversation, getConversationName } from "./conversation.tsx";
import { IssuesView } from "./issues-view.tsx";
import { NewEntries } from "./new-entries.tsx";
import { usePage } from "./page-context.ts";
import { PathBar, TimeLine } from "./path-bar.tsx";
import { goToFailure, type Reader } from "./reader.ts";
import { BesideView } from "./side-by-side-view.tsx";
import { UsageView } from "./usage-view.tsx";

interface SessionViewProps {
  readonly path: PathView;
  readonly reader: Reader;
  /** Whether the end of the conversation was in view before the session grew. */
  readonly wasAtEnd: boolean;
}

/** The chosen view of the session. */
export function SessionView({ path, reader, wasAtEnd }: SessionViewProps) {
  const { session } = usePage();
  const { position, sight } = reader;
  const { view, focus } = position;
  return (
    <>
      {isConversationShown(position) && (
        <>
          <h2 class="sr-only">{getConversationName(view)}</h2>
          <PathBar
            path={path}
            position={position}
            onFailure={(direction) => goToFailure(session, reader, direction)}
          />
          <TimeLine path={path} focus={focus} />
          <Conversation path={path} position={position} sight={sight} />
          <NewEntries end={position.end} wasAtEnd={wasAtEnd} />
        </>
      )}
      {view === "beside" && (
        <>
          <h2 class="sr-only">Two branches</h2>
          <BesideView path={path} position={position} sight={sight} />
        </>
      )}
      {view === "changes" && <ChangesView path={path} />}
      {view === "usage" && <UsageView path={path} />}
      {view === "issues" && <IssuesView />}
    </>
  );
}

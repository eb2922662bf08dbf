import { useMemo } from "preact/hooks";
import { formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { type ChangedFile, type FileChange, findChangedFiles } from "../model/file-changes.ts";
import { formatTime } from "../model/format.ts";
import type { PathView } from "../model/path-items.ts";
import { formatEndName } from "../model/session-model.ts";
import { Diff, DiffCounts } from "./code.tsx";
import { LinkButton } from "./controls.tsx";
import { usePage } from "./page-context.ts";
import { VirtualList } from "./virtual-list.tsx";

/** The files that were changed on the path, each with its edits in order, as a pull request shows them. */
export function ChangesView({ path }: { path: PathView }) {
  const { session } = usePage();
  const files = useMemo(
    () =>
      findChangedFiles(
        session,
        path.items.map(({ ordinal }) => ordinal),
      ),
    [session, path],
  );
  const where = `on the path to ${formatEndName(session, path.end)}`;
  if (files.length === 0) return <div class="empty">No tool says that it changed a file {where}.</div>;
  return (
    <div class="issues-page">
      <p class="issues-head">
        {formatCounted(files.length, "file", "files")} changed {where}, as the calls of tools say. What
        commands changed is not known.
      </p>
      <VirtualList
        class="changes"
        label="Changed files"
        items={files}
        getKey={(file) => file.path}
        estimate={() => 90}
        render={(file) => <FileChanges file={file} />}
      />
    </div>
  );
}

function FileChanges({ file: { path, changes } }: { file: ChangedFile }) {
  const all = changes.filter(({ hasFailed }) => !hasFailed).flatMap(({ edits }) => edits);
  return (
    <article class="file-changes">
      <h2>
        <code>{path}</code>
        <DiffCounts edits={all} />
      </h2>
      {changes.map((change, index) => (
        <Change key={index} change={change} />
      ))}
    </article>
  );
}

/** One call that changed a file, and what it says of the change. */
function Change({ change }: { change: FileChange }) {
  const { session, go } = usePage();
  const { ordinal, result = ordinal, tool, hasFailed, edits } = change;
  const entry = session.entryAt(result);
  return (
    <section class="file-change" aria-label={tool}>
      <p>
        <LinkButton onClick={() => go({ go: "entry", ordinal: result })}>
          {joinNonempty(", ", tool, formatTime(entry?.timestamp))}
        </LinkButton>
        {hasFailed && <span class="chip is-failed">failed</span>}
        {edits.length === 0 && <span class="muted">the call does not say what it changed</span>}
      </p>
      {edits.map((lines, index) => (
        <Diff key={index} lines={lines} />
      ))}
    </section>
  );
}

import { useMemo, useState } from "preact/hooks";
import { formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { type ChangedFile, type FileChange, findChangedFiles } from "../model/file-changes.ts";
import { formatTime } from "../model/format.ts";
import type { DiffLine } from "../model/line-numbers.ts";
import type { PathView } from "../model/path-items.ts";
import { formatPlace } from "../model/session-model.ts";
import { Diff, DiffCounts } from "./code.tsx";
import { LinkButton } from "./controls.tsx";
import { usePage } from "./page-context.ts";
import { type Jump, VirtualList } from "./virtual-list.tsx";

/** Files changed on a branch, each with its edits in order, as in a pull request, plus a list of the files. */
export function ChangesView({ path }: { path: PathView }) {
  const { session } = usePage();
  const [jump, jumpTo] = useState<Jump>();
  const [[first, last], setRange] = useState([0, 0]);
  const isChosenSeen = jump !== undefined && jump.index >= first && jump.index <= last;
  const files = useMemo(
    () =>
      findChangedFiles(
        session,
        path.items.map(({ ordinal }) => ordinal),
      ),
    [session, path],
  );
  const where = formatPlace(session, path.end);
  if (files.length === 0) return <div class="empty">No tool call changed a file {where}.</div>;
  return (
    <div class="changes-page">
      <FileList
        files={files}
        current={isChosenSeen ? jump.index : first}
        onChoose={(index) => jumpTo({ index, align: "start" })}
      />
      <div class="issues-page">
        <p class="issues-head">
          {formatCounted(files.length, "file", "files")} changed {where}, according to the tool calls. Changes
          by commands are not included.
        </p>
        <VirtualList
          class="changes"
          label="Changed files"
          items={files}
          getKey={(file) => file.path}
          estimate={() => 90}
          render={(file) => <FileChanges file={file} />}
          jump={jump}
          onRange={(from, to) => {
            if (from !== first || to !== last) setRange([from, to]);
          }}
        />
      </div>
    </div>
  );
}

interface FileListProps {
  readonly files: readonly ChangedFile[];
  /** Index of the file in view. */
  readonly current: number;
  readonly onChoose: (index: number) => void;
}

/** List of file names that link to the files' changes. */
function FileList({ files, current, onChoose }: FileListProps) {
  return (
    <nav class="file-list" aria-label="Files">
      {files.map((file, index) => {
        const [, folder = "", name = file.path] = /^(.*[/\\])?([^/\\]+)$/.exec(file.path) ?? [];
        return (
          <button
            key={file.path}
            type="button"
            title={file.path}
            aria-current={index === current}
            onClick={() => onChoose(index)}
          >
            <span class="file-name">{name}</span>
            <DiffCounts edits={listEdits(file)} />
            {folder !== "" && <span class="file-folder">{folder}</span>}
          </button>
        );
      })}
    </nav>
  );
}

/** Returns the edits of a file that succeeded. */
function listEdits({ changes }: ChangedFile): (readonly DiffLine[])[] {
  return changes.filter(({ hasFailed }) => !hasFailed).flatMap(({ edits }) => edits);
}

function FileChanges({ file }: { file: ChangedFile }) {
  return (
    <article class="file-changes">
      <h2>
        <code>{file.path}</code>
        <DiffCounts edits={listEdits(file)} />
      </h2>
      {file.changes.map((change, index) => (
        <Change key={index} change={change} />
      ))}
    </article>
  );
}

/** Call that changed a file, and its edits. */
function Change({ change }: { change: FileChange }) {
  const { session, go } = usePage();
  const { path, ordinal, result = ordinal, tool, hasFailed, edits } = change;
  const entry = session.entryAt(result);
  return (
    <div class="file-change">
      <p>
        <LinkButton onClick={() => go({ go: "entry", ordinal: result })}>
          {joinNonempty(", ", tool, formatTime(entry?.timestamp))}
        </LinkButton>
        {hasFailed && <span class="chip is-failed">failed</span>}
        {edits.length === 0 && <span class="muted">the call does not state what it changed</span>}
      </p>
      {edits.map((lines, index) => (
        <Diff key={index} lines={lines} path={path} />
      ))}
    </div>
  );
}

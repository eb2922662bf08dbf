import { LinkButton } from "./controls.tsx";
import { downloadSession, downloadTranscript } from "./download-session.ts";
import { Dialog } from "./help.tsx";
import { usePage } from "./page-context.ts";

interface DownloadsProps {
  /** Ordinal of the entry at which the shown branch ends, or NONE. */
  readonly end: number;
  readonly onClose: () => void;
}

/** Files that the session can be saved as. */
export function Downloads({ end, onClose }: DownloadsProps) {
  const { session } = usePage();
  const rows: (readonly [format: string, content: string, save: () => void])[] = [
    [
      "Markdown",
      "this branch, to read; results of tools are shortened",
      () => downloadTranscript(session, end),
    ],
    ["JSONL", "the session file with all branches, byte for byte", () => downloadSession(session)],
  ];
  return (
    <Dialog name="Downloads" heading="Download" onClose={onClose}>
      {rows.map(([format, content, save]) => (
        <p key={format} class="command">
          <LinkButton
            onClick={() => {
              save();
              onClose();
            }}
          >
            Download {format}
          </LinkButton>
          : {content}
        </p>
      ))}
    </Dialog>
  );
}

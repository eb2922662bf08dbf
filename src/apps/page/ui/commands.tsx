import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import { Dialog } from "./help.tsx";
import { CopyIcon, IconButton } from "./icons.tsx";
import { usePage } from "./page-context.ts";

interface CommandLineProps {
  /** What stands before the path of the session. */
  readonly front: string;
  /** The entry that stands behind it, if the command takes one. */
  readonly id?: string;
  readonly onCopy?: () => void;
}

/** A command about the session, as the command line takes it, and a button that copies it. */
export function CommandLine({ front, id = "", onCopy }: CommandLineProps) {
  const { copy, path } = usePage();
  const command = [front, ...[path, id].filter(Boolean).map((word) => quoteForShell(toPlainLine(word)))].join(
    " ",
  );
  return (
    <span class="terminal-line">
      <code>{command}</code>
      <IconButton
        icon={CopyIcon}
        label={`Copy ${command}`}
        hint="Copy the command"
        onClick={() => {
          copy(command, "the command");
          onCopy?.();
        }}
      />
    </span>
  );
}

/** What to type in a terminal to go on with the session: the page only shows it. */
export function Commands({ ordinal, onClose }: { ordinal: number; onClose: () => void }) {
  const { session } = usePage();
  const id = ordinal === NONE ? "" : session.tree.idAt(ordinal);
  const rows = [
    ["Go on with it: your agent opens its file", "my-agent --session"],
    [`Go on from entry ${id} in a copy of its own`, "sessiontree fork", id],
    [`Take what entry ${id} says out of it for good`, "sessiontree redact", id],
  ] as const;
  return (
    <Dialog name="Commands" heading="In a terminal" onClose={onClose}>
      {rows.map(([purpose, front, of = ""]) => (
        <div key={front} class="command">
          <p>{purpose}:</p>
          <CommandLine front={front} id={of} onCopy={onClose} />
        </div>
      ))}
      <p class="command muted">
        <code>sessiontree resume</code> lets you choose a session, and starts a program with it.
      </p>
    </Dialog>
  );
}

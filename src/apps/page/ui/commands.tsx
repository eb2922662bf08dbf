import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import { CONTINUING_PROGRAMS, findOriginCommand } from "../model/origin-command.ts";
import { Dialog } from "./help.tsx";
import { CopyIcon, IconButton } from "./icons.tsx";
import { usePage } from "./page-context.ts";

interface CommandLineProps {
  /** Words of the command. */
  readonly words: readonly string[];
  /** Folder in which to run it; empty if any folder works. */
  readonly folder?: string;
  readonly onCopy?: () => void;
}

/** Command about the session in shell syntax, with a button that copies it. */
export function CommandLine({ words, folder = "", onCopy }: CommandLineProps) {
  const { copy } = usePage();
  const commands = folder === "" ? [words] : [["cd", folder], words];
  const command = commands
    .map((one) => one.map((word) => quoteForShell(toPlainLine(word))).join(" "))
    .join(" && ");
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

/** Commands that continue or change the session in a terminal; the page only shows them. */
export function Commands({ ordinal, onClose }: { ordinal: number; onClose: () => void }) {
  const { session, path } = usePage();
  const id = ordinal === NONE ? undefined : session.tree.idAt(ordinal);
  const origin = findOriginCommand(session, path);
  const others = CONTINUING_PROGRAMS.filter((program) => program !== origin?.source);
  const [first = ""] = others;
  const rows: (readonly [purpose: string, words: readonly string[], folder?: string])[] = [
    ["Continue it in another program", ["sessiontree", "continue", path, "--in", first]],
  ];
  if (origin !== undefined) rows.unshift([`Continue it in ${origin.program}`, origin.words, origin.folder]);
  if (id !== undefined)
    rows.push(
      [`Continue from entry ${id} in a copy`, ["sessiontree", "fork", path, id]],
      [`Remove the text of entry ${id} permanently`, ["sessiontree", "redact", path, id]],
    );
  return (
    <Dialog name="Commands" heading="In a terminal" onClose={onClose}>
      {rows.map(([purpose, words, folder = ""]) => (
        <div key={purpose} class="command">
          <p>{purpose}:</p>
          <CommandLine words={words} folder={folder} onCopy={onClose} />
        </div>
      ))}
      <p class="command muted">
        <code>--in</code> also takes {new Intl.ListFormat("en").format(others.slice(1))}.{" "}
        <code>sessiontree resume</code> lists sessions to choose from.
      </p>
    </Dialog>
  );
}

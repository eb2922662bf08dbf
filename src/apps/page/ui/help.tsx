import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { CloseIcon, EndHereIcon, EyeIcon, IconButton, LinkIcon } from "./icons.tsx";
import { TOUCH } from "./viewport.ts";

/** What the signs of the page of a session mean. */
export const SIGNS: HelpRows = [
  [<span class="chip is-leaf">leaf</span>, "where the session goes on; a green ring in the tree"],
  [<EyeIcon />, "shows what the model saw at an entry"],
  [<EndHereIcon />, "ends the path at an entry"],
  [<LinkIcon />, "the address of an entry, to be copied from the browser"],
  ["Blue line", "the path that is shown; entries in grey are on other branches"],
  ["Diamond", "a summary, of a compaction or of a branch that was left"],
  [<span class="tree-run">+12</span>, "so many entries follow that are folded; dots stand for them"],
  [<span class="tree-run is-failed">+12</span>, "some of those failed"],
  ["Grey text", "what the model does not see: compacted, or kept for people and programs"],
  ["Faded bars", "calls that are not on the path that is shown"],
  ["3 of 19", "the entry that is looked at, of those that were found or failed"],
];

/** What the signs of a list of sessions mean. */
export const LIST_SIGNS: HelpRows = [
  [<span class="chip">fork</span>, "begun as a copy of another session"],
  [<span class="chip is-failed">2 failed</span>, "so often a tool, a command or an answer failed in it"],
  [
    <span class="chip is-removed">1 issue</span>,
    "its file is damaged: its page says where, and how to repair it",
  ],
  [
    "~$0.20",
    "a cost that is estimated in part: calls without a stated cost, at list prices; faded in the chart",
  ],
  ["–", "no known cost"],
];

/** What the help is about: where a finger points, keys are of no use. */
export const HELP_TITLE = matchMedia(TOUCH).matches ? "Signs" : "Keys and signs";

/** Keys or signs, and what they do or mean. */
export type HelpRows = readonly (readonly [sign: ComponentChildren, meaning: string])[];

interface HelpProps {
  readonly keys: readonly (readonly [keys: readonly string[], purpose: string])[];
  readonly signs: HelpRows;
  readonly onClose: () => void;
}

/** What the keys do, where there are any, and what the signs mean. */
export function Help({ keys, signs, onClose }: HelpProps) {
  const hasKeys = !matchMedia(TOUCH).matches;
  return (
    <Dialog name={HELP_TITLE} heading={hasKeys ? "Keys" : "Signs"} onClose={onClose}>
      {hasKeys && (
        <>
          <Rows
            rows={keys.map(([names, purpose]) => [names.map((key) => <kbd key={key}>{key}</kbd>), purpose])}
          />
          <h2>Signs</h2>
        </>
      )}
      <Rows rows={signs} />
    </Dialog>
  );
}

interface DialogProps {
  readonly name: string;
  readonly heading: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** What stands before the page until it is closed. */
export function Dialog({ name, heading, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // With the drawing: a key that comes right after is for the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-label={name} onClose={onClose}>
      <header>
        <h2>{heading}</h2>
        <IconButton icon={CloseIcon} label="Close" onClick={() => dialog.current?.close()} />
      </header>
      {children}
    </dialog>
  );
}

function Rows({ rows }: { rows: HelpRows }) {
  return (
    <dl>
      {rows.map(([sign, meaning]) => (
        <div key={meaning}>
          <dt>{sign}</dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}

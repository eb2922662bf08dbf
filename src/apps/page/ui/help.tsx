import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { CloseIcon, EndHereIcon, EyeIcon, IconButton, LinkIcon } from "./icons.tsx";
import { TOUCH } from "./viewport.ts";

/** Meanings of the signs on the page of a session. */
export const SIGNS: HelpRows = [
  [<span class="chip is-leaf">now</span>, "where the session continues; a green ring in the tree"],
  [<EyeIcon />, "shows what the model saw at an entry"],
  [<EndHereIcon />, "hides what follows an entry"],
  [<LinkIcon />, "copies the address of an entry"],
  ["Blue line", "the branch that is shown; entries in gray are on other branches"],
  ["Diamond", "a summary of a compaction or of an abandoned branch"],
  ["Cross", "a failure"],
  [<span class="tree-run">+12</span>, "number of entries that follow and are not listed"],
  [<span class="tree-run is-failed">+12</span>, "some of those failed"],
  ["Gray text", "what the model does not see: summarized, or kept for people and programs"],
  ["Faded bars", "calls on other branches"],
  ["3 of 19", "position among the entries that were found or failed"],
];

/** Meanings of the signs in a list of sessions. */
export const LIST_SIGNS: HelpRows = [
  [<span class="chip">fork</span>, "started as a copy of another session"],
  [<span class="chip is-failed">2 failed</span>, "number of tools, commands, and answers that failed in it"],
  [
    <span class="chip is-removed">1 issue</span>,
    "its file is damaged: its page shows where, and how to repair it",
  ],
  ["~$0.20", "a partly estimated cost: calls without a recorded cost, at list prices; faded in the chart"],
  ["–", "no known cost"],
  ["no cost", "no calls of its own: copied calls count for the original session"],
];

/** Title of the help, which does not mention keys on touch devices. */
export const HELP_TITLE = matchMedia(TOUCH).matches ? "Signs" : "Keys and signs";

/** Keys or signs, and their effects or meanings. */
export type HelpRows = readonly (readonly [sign: ComponentChildren, meaning: string])[];

interface HelpProps {
  readonly keys: readonly (readonly [keys: readonly string[], purpose: string])[];
  readonly signs: HelpRows;
  readonly onClose: () => void;
}

/** Help on the keys, if any, and the signs. */
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

/** Modal dialog over the page. */
export function Dialog({ name, heading, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // In the layout phase, so that the next keystroke already goes to the dialog.
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

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { CloseIcon, EndHereIcon, EyeIcon, IconButton, LinkIcon } from "./icons.tsx";
import { KEY_HELP } from "./keys.ts";
import { TOUCH } from "./screen.ts";

/** What the signs of the page mean. */
const SIGNS: readonly (readonly [sign: ComponentChildren, meaning: string])[] = [
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

/** What the help is about: where a finger points, keys are of no use. */
export const HELP_TITLE = matchMedia(TOUCH).matches ? "Signs" : "Keys and signs";

/** What the keys do, where there are any, and what the signs mean. */
export function Help({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // With the drawing: a key that comes right after is for the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const hasKeys = !matchMedia(TOUCH).matches;
  return (
    <dialog ref={dialog} class="help" aria-label={HELP_TITLE} onClose={onClose}>
      <header>
        <h2>{hasKeys ? "Keys" : "Signs"}</h2>
        <IconButton icon={CloseIcon} label="Close" onClick={() => dialog.current?.close()} />
      </header>
      {hasKeys && (
        <>
          <Rows
            rows={KEY_HELP.map(([keys, purpose]) => [keys.map((key) => <kbd key={key}>{key}</kbd>), purpose])}
          />
          <h2>Signs</h2>
        </>
      )}
      <Rows rows={SIGNS} />
    </dialog>
  );
}

function Rows({ rows }: { rows: typeof SIGNS }) {
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

import { useEffect, useRef } from "preact/hooks";
import { CloseIcon } from "./icons.tsx";
import { KEY_HELP } from "./keys.ts";

/** What the keys do. */
export function Help({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-label="Keys" onClose={onClose}>
      <header>
        <h2>Keys</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
          <CloseIcon />
        </button>
      </header>
      <dl>
        {KEY_HELP.map(([keys, purpose]) => (
          <div key={purpose}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{purpose}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}

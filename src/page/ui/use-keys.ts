import { useEffect, useRef } from "preact/hooks";
import { commandOf, type KeyCommand } from "./keys.ts";

/** Listens to the keys of the whole page; see `commandOf`. */
export function useKeys(
  isConversation: boolean,
  commands: { readonly [command in KeyCommand]: () => void },
): void {
  const latest = useRef({ isConversation, commands });
  latest.current = { isConversation, commands };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const command = commandOf(event, latest.current.isConversation);
      // An open dialog has the keys to itself.
      if (command === undefined || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      latest.current.commands[command]();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

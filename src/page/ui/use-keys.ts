import { useEffect, useRef } from "preact/hooks";
import { commandOf, type KeyCommand } from "./keys.ts";

/** Listens to the keys of the whole page. */
export function useKeys(commands: { readonly [command in KeyCommand]: () => void }): void {
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const command = commandOf(event);
      // An open dialog has the keys to itself.
      if (command === undefined || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      latest.current[command]();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

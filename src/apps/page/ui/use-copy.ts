import { useCallback, useEffect, useState } from "preact/hooks";

/** Milliseconds for which the page says something. */
const SHOWN_MS = 2500;

/** Copies a text; `what` names it to the reader. */
export type Copy = (text: string, what: string) => void;

/** Returns a function that copies a text, what came of it last, which is empty after a while, and a function that says something else there. */
export function useCopy(): [Copy, string, (said: string) => void] {
  const [said, say] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => say(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = useCallback<Copy>((text, what) => {
    const tell = (isDone: boolean) =>
      say(isDone ? `Copied ${what}` : `The browser does not let the page copy ${what}`);
    if (!isSecureContext) tell(copySelected(text));
    else
      navigator.clipboard.writeText(text).then(
        () => tell(true),
        // A browser can refuse what an older way still does.
        () => tell(copySelected(text)),
      );
  }, []);
  return [copy, said, say];
}

/** Copies as a key would; tells whether that worked. */
function copySelected(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  return isDone;
}

import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { count } from "../../view/words.ts";
import { highlightCode } from "../render/highlight.ts";
import { Html } from "./html.tsx";

/** Lines and characters of a text that are shown before the reader asks for more. */
const MOST_LINES = 300;
const MOST_CHARACTERS = 40_000;

/** Whether this is for paper, where no reader can ask for more. */
export const PrintContext = createContext(false);

/** A text as it was written, coloured if its language is known, and cut if it is very long. */
export function Code({ text, language }: { text: string; language?: string | undefined }) {
  const [isAskedFor, askForWhole] = useState(false);
  const isWhole = useContext(PrintContext) || isAskedFor;
  const head = isWhole ? text : headOf(text);
  const coloured = language === undefined ? undefined : highlightCode(head, language);
  return (
    <div class="code">
      {/* What scrolls must be reachable by keyboard. */}
      {coloured === undefined ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        <pre class="plain" tabIndex={0}>
          {head}
        </pre>
      ) : (
        <Html class="pre hljs" html={coloured} isReachable={true} />
      )}
      {head.length < text.length && (
        <button type="button" class="more no-print" onClick={() => askForWhole(true)}>
          Show all {count(text.length)} characters
        </button>
      )}
    </div>
  );
}

function headOf(text: string): string {
  const end = Math.min(text.length, MOST_CHARACTERS);
  let at = -1;
  for (let line = 0; line < MOST_LINES; line++) {
    at = text.indexOf("\n", at + 1);
    if (at === -1 || at >= end) return text.slice(0, end);
  }
  return text.slice(0, at);
}

import type { SafeHtml } from "../render/safe-html.ts";

interface HtmlProps {
  readonly class: string;
  readonly html: SafeHtml;
  /** Whether it scrolls by itself, and so must be reachable by keyboard. */
  readonly isReachable?: boolean;
  readonly onClick?: (event: Event) => void;
}

/** Shows HTML that a renderer vouches for: the only component in which markup is made of a text. */
export function Html({ class: name, html, isReachable = false, onClick }: HtmlProps) {
  return (
    <div
      class={name}
      {...(isReachable && { tabIndex: 0 })}
      {...(onClick && { onClick })}
      dangerouslySetInnerHTML={html}
    />
  );
}

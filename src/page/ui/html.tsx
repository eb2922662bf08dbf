import type { SafeHtml } from "../render/safe-html.ts";

/** Shows HTML that a renderer vouches for: the one place in the page where markup is made of a text. */
export function Html({ class: name, html }: { class: string; html: SafeHtml }) {
  return <div class={name} dangerouslySetInnerHTML={html} />;
}

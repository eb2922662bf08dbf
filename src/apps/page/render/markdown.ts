import MarkdownIt from "markdown-it";
import { toRecord } from "../../../core/context/entry-fields.ts";
import { findLanguage, highlightCode, type SafeHtml, vouchFor } from "./highlight.ts";

/**
 * Maximum length of rendered text, in characters; longer text is shown as plain text, because laying it out is not worth the
 * wait.
 */
const LONGEST = 300_000;

/** Default level of the first heading in rendered text, below the page's three levels. */
const FIRST_LEVEL = 4;
const DEEPEST_LEVEL = 6;

/** Addresses that are allowed in links. */
const ALLOWED_LINK = /^(?:https?:\/\/|mailto:)/i;

const parser = new MarkdownIt({
  html: false,
  linkify: true,
  breaks: true,
  highlight: (text, name) => {
    const language = findLanguage(name);
    return language === undefined ? "" : (highlightCode(text, language)?.__html ?? "");
  },
});

parser.validateLink = (address) => ALLOWED_LINK.test(address.trim());
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

parser.renderer.rules["link_open"] = (tokens, index, options, _env, self) => {
  const token = tokens[index];
  // `[text]()` has no target: it must not open the page itself again.
  if (!token?.attrGet("href")) return "<a>";
  token.attrSet("target", "_blank");
  token.attrSet("rel", "noopener noreferrer");
  return self.renderToken(tokens, index, options);
};

// Markers and columns are on the side where their text starts.
for (const name of ["bullet_list_open", "ordered_list_open", "blockquote_open"]) {
  parser.renderer.rules[name] = (tokens, index, options, _env, self) => {
    tokens[index]?.attrSet("dir", "auto");
    return self.renderToken(tokens, index, options);
  };
}

// A text may skip levels: on the page each heading is one level below its parent heading.
parser.core.ruler.push("heading_levels", ({ tokens, env }) => {
  const { firstLevel } = toRecord(env);
  const first = typeof firstLevel === "number" ? firstLevel : FIRST_LEVEL;
  const above: string[] = [];
  let tag = "";
  for (const token of tokens) {
    if (token.type === "heading_open") {
      while (above.length > 0 && (above.at(-1) ?? "") >= token.tag) above.pop();
      tag = `h${Math.min(DEEPEST_LEVEL, first + above.length)}`;
      above.push(token.tag);
    }
    if (token.type === "heading_open" || token.type === "heading_close") token.tag = tag;
  }
});

// An image would be loaded from another server, so its address becomes a link, which the reader can choose to follow.
parser.renderer.rules["image"] = (tokens, index) => {
  const token = tokens[index];
  const { escapeHtml } = parser.utils;
  const address = escapeHtml(String(token?.attrGet("src") ?? ""));
  const text = escapeHtml(token?.content || "image");
  return address === "" ? text : `<a href="${address}" target="_blank" rel="noopener noreferrer">${text}</a>`;
};

/** Button that copies the code next to it. */
const COPY_BUTTON = '<button type="button" class="copy-code no-print">Copy</button>';

// Elements that scroll on their own must be reachable by keyboard.
for (const name of ["fence", "code_block"]) {
  const usual = parser.renderer.rules[name];
  parser.renderer.rules[name] = (...args) =>
    usual === undefined
      ? ""
      : `<div class="fence">${usual(...args).replace(/^<pre>/, '<pre tabindex="0">')}${COPY_BUTTON}</div>\n`;
}
parser.renderer.rules["table_open"] = () => '<div class="table-scroll" tabindex="0"><table dir="auto">\n';
parser.renderer.rules["table_close"] = () => "</table></div>\n";

// markdown-it emits alignment as a style attribute, which the page's policy rejects.
for (const name of ["th_open", "td_open"]) {
  parser.renderer.rules[name] = (tokens, index) => {
    const alignment = /text-align:(left|center|right)/.exec(
      String(tokens[index]?.attrGet("style") ?? ""),
    )?.[1];
    const tag = name === "th_open" ? "th" : "td";
    return alignment === undefined ? `<${tag}>` : `<${tag} class="align-${alignment}">`;
  };
}

/**
 * Renders Markdown as HTML.
 *
 * Safe by construction: with `html: false` markdown-it escapes all markup in the text and writes only its own elements; only
 * http, https, and mailto addresses are converted to links; images are converted to links.
 *
 * @param firstLevel - Level of the text's first heading, at least 2.
 * @returns Undefined if the text is too long: show it as plain text.
 */
export function renderMarkdown(text: string, firstLevel = FIRST_LEVEL): SafeHtml | undefined {
  return text.length > LONGEST ? undefined : vouchFor(parser.render(text, { firstLevel }));
}

import MarkdownIt from "markdown-it";
import { findLanguage, highlightCode, type SafeHtml, vouchFor } from "./highlight.ts";

/** Longer texts are shown as they are: laying them out is not worth the wait. */
const LONGEST = 300_000;

/** Levels of headings that the page uses above those of a text. */
const PAGE_HEADINGS = 3;
const DEEPEST_HEADING = 6;

/** Addresses that a link may lead to. */
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
  // `[text]()` leads nowhere: it must not open the page itself once more.
  if (!token?.attrGet("href")) return "<a>";
  token.attrSet("target", "_blank");
  token.attrSet("rel", "noopener noreferrer");
  return self.renderToken(tokens, index, options);
};

// Marks and columns stand on the side where their words begin.
for (const name of ["bullet_list_open", "ordered_list_open", "blockquote_open"]) {
  parser.renderer.rules[name] = (tokens, index, options, _env, self) => {
    tokens[index]?.attrSet("dir", "auto");
    return self.renderToken(tokens, index, options);
  };
}

// The page has the first three levels of headings for itself.
for (const name of ["heading_open", "heading_close"]) {
  parser.renderer.rules[name] = (tokens, index) => {
    const level = Math.min(DEEPEST_HEADING, Number(tokens[index]?.tag.slice(1)) + PAGE_HEADINGS);
    return name === "heading_open" ? `<h${level}>` : `</h${level}>\n`;
  };
}

// An image would be loaded from somewhere: its address becomes a link that one may follow or not.
parser.renderer.rules["image"] = (tokens, index) => {
  const token = tokens[index];
  const { escapeHtml } = parser.utils;
  const address = escapeHtml(String(token?.attrGet("src") ?? ""));
  const text = escapeHtml(token?.content || "image");
  return address === "" ? text : `<a href="${address}" target="_blank" rel="noopener noreferrer">${text}</a>`;
};

/** The page copies the code beside it. */
const COPY_BUTTON = '<button type="button" class="copy-code no-print">Copy</button>';

// What scrolls by itself must be reachable by keyboard.
for (const name of ["fence", "code_block"]) {
  const usual = parser.renderer.rules[name];
  parser.renderer.rules[name] = (...args) =>
    usual === undefined
      ? ""
      : `<div class="fence">${usual(...args).replace(/^<pre>/, '<pre tabindex="0">')}${COPY_BUTTON}</div>\n`;
}
parser.renderer.rules["table_open"] = () => '<div class="table-scroll" tabindex="0"><table dir="auto">\n';
parser.renderer.rules["table_close"] = () => "</table></div>\n";

// Alignment comes as a style attribute, which the page's policy refuses.
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
 * Turns Markdown into HTML.
 *
 * Safe by construction: with `html: false` markdown-it escapes all markup in the text and writes only its own elements;
 * addresses that are not http, https or mailto are no links; images become links.
 *
 * @returns Undefined if the text is too long: show it as it is.
 */
export function renderMarkdown(text: string): SafeHtml | undefined {
  return text.length > LONGEST ? undefined : vouchFor(parser.render(text));
}

import type { Page } from "playwright-core";

/**
 * Finds actions that overlap something else: text, a chip, or another button.
 * @returns A line for each overlap, with both elements; empty if nothing is covered.
 */
export function coveredByActions(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const shown = (element: Element) => {
      const { width, height } = element.getBoundingClientRect();
      const { visibility } = getComputedStyle(element);
      return width > 0 && height > 0 && visibility === "visible";
    };
    const all = (selector: string) =>
      [...document.querySelectorAll(`.conversation ${selector}`)].filter(shown);
    const contents = all(
      ".entry-kind, .entry-facts, .entry-excerpt, .chip, .fold-title, .fold-excerpt, .fold-size, .diff-counts, time, .markdown",
    );
    const name = (element: Element) => `${element.className} "${element.textContent?.slice(0, 30)}"`;
    return all(".entry-actions .icon-button").flatMap((action) => {
      const box = action.getBoundingClientRect();
      const covered = contents.filter((content) => {
        const other = content.getBoundingClientRect();
        const [wide, high] = [
          Math.min(box.right, other.right) - Math.max(box.left, other.left),
          Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top),
        ];
        return wide > 0.5 && high > 0.5;
      });
      return covered.map((content) => `${action.getAttribute("aria-label")} on ${name(content)}`);
    });
  });
}

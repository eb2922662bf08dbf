import { ThemeIcon } from "./icons.tsx";

/** Changes between light and dark. */
export function ThemeButton() {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label="Light or dark"
      title="Light or dark (d)"
      onClick={toggleTheme}
    >
      <ThemeIcon />
    </button>
  );
}

/** Changes between light and dark, from what the system prefers. */
export function toggleTheme(): void {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const current = root.dataset["theme"] ?? (prefersDark ? "dark" : "light");
  root.dataset["theme"] = current === "dark" ? "light" : "dark";
}

import { IconButton, ThemeIcon } from "./icons.tsx";

/** Changes between light and dark. */
export function ThemeButton() {
  return <IconButton icon={ThemeIcon} label="Light or dark" hint="Light or dark (d)" onClick={toggleTheme} />;
}

/** Changes between light and dark, from what the system prefers. */
export function toggleTheme(): void {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const current = root.dataset["theme"] ?? (prefersDark ? "dark" : "light");
  root.dataset["theme"] = current === "dark" ? "light" : "dark";
}

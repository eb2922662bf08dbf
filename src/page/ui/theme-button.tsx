import { ThemeIcon } from "./icons.tsx";
import { toggleTheme } from "./theme.ts";

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

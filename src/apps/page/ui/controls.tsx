import { type ComponentChildren, Fragment, type RefObject } from "preact";
import { CloseIcon, IconButton, SearchIcon, ThemeIcon } from "./icons.tsx";

interface SegmentsProps<T extends string> {
  readonly label: string;
  readonly choices: readonly (readonly [value: T, word: string, hint?: string])[];
  readonly chosen: T;
  readonly onChoose: (value: T) => void;
}

/** Selects one of a few options. */
export function Segments<T extends string>({ label, choices, chosen, onChoose }: SegmentsProps<T>) {
  return (
    <fieldset class="segments" aria-label={label}>
      {choices.map(([value, word, hint]) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === chosen}
          title={hint}
          data-value={value}
          onClick={() => onChoose(value)}
        >
          {word}
        </button>
      ))}
    </fieldset>
  );
}

interface LinkButtonProps {
  readonly class?: string;
  readonly title?: string;
  readonly onClick: (() => void) | undefined;
  readonly children: ComponentChildren;
}

/** Button that looks like a link. */
export function LinkButton({ class: extra = "", title, onClick, children }: LinkButtonProps) {
  return (
    <button type="button" class={`link-button ${extra}`.trim()} title={title} onClick={onClick}>
      {children}
    </button>
  );
}

/** Facts on a line, separated by dots: a line breaks between facts, but not within a fact. */
export function FactLine({ facts }: { facts: readonly string[] }) {
  return facts.map((fact, index) => (
    <Fragment key={fact}>
      {index > 0 && " "}
      <span class="session-fact">{index < facts.length - 1 ? `${fact} ·` : fact}</span>
    </Fragment>
  ));
}

interface SearchBoxProps {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  /** Content after the text. */
  readonly children?: ComponentChildren;
}

/** Search field with a button that clears it. */
export function SearchBox(props: SearchBoxProps) {
  const { field, label, placeholder, text, onText, onKeyDown, children } = props;
  return (
    <search class="search">
      <SearchIcon />
      <input
        ref={field}
        type="text"
        placeholder={placeholder}
        aria-label={label}
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {children}
      {text !== "" && <IconButton icon={CloseIcon} label="Clear the search" onClick={() => onText("")} />}
    </search>
  );
}

/** Button that switches between light and dark mode. */
export function ThemeButton() {
  return <IconButton icon={ThemeIcon} label="Light or dark" shortcut="d" onClick={toggleTheme} />;
}

/** Switches between light and dark mode, starting from the system preference. */
export function toggleTheme(): void {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const current = root.dataset["theme"] ?? (prefersDark ? "dark" : "light");
  root.dataset["theme"] = current === "dark" ? "light" : "dark";
}

import type { ComponentChildren, RefObject } from "preact";
import { CloseIcon, IconButton, SearchIcon } from "./icons.tsx";

interface SearchBoxProps {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  /** What stands behind the text. */
  readonly children?: ComponentChildren;
}

/** A field for what is searched for, which can be cleared. */
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

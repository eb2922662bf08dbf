import type { ComponentChild, ComponentChildren } from "preact";

/** Creates a 16-by-16-unit icon in the current text color. */
function makeIcon(children: ComponentChildren) {
  return () => (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {children}
    </svg>
  );
}

/** Marks a fold. */
export const ChevronIcon = makeIcon(<path d="M6 4l4 4-4 4" />);
/** Goes back. */
export const BackIcon = makeIcon(<path d="M10 4L6 8l4 4" />);
/** Goes to the previous item. */
export const UpIcon = makeIcon(<path d="M4 10l4-4 4 4" />);
/** Goes to the next item. */
export const DownIcon = makeIcon(<path d="M4 6l4 4 4-4" />);
/** Closes or clears. */
export const CloseIcon = makeIcon(<path d="M4 4l8 8M12 4l-8 8" />);
/** Marks a search field. */
export const SearchIcon = makeIcon(
  <>
    <circle cx="7" cy="7" r="4.2" />
    <path d="M10.2 10.2L14 14" />
  </>,
);
/** Shows the tree. */
export const TreeIcon = makeIcon(
  <>
    <circle cx="4" cy="3.5" r="1.6" />
    <circle cx="4" cy="12.5" r="1.6" />
    <circle cx="12" cy="8" r="1.6" />
    <path d="M4 5.1v5.8M4 6c0 2 2.5 2 6.4 2" />
  </>,
);
/** Switches between light and dark. */
export const ThemeIcon = makeIcon(
  <>
    <circle cx="8" cy="8" r="5.6" />
    <path d="M8 2.4v11.2A5.6 5.6 0 0 0 8 2.4z" class="icon-fill" />
  </>,
);
/** Prints the path. */
export const PrintIcon = makeIcon(<path d="M4.5 6V2.5h7V6M4.5 11.5H2.8V6h10.4v5.5h-1.7M4.5 9.5h7v4h-7z" />);
/** Shows commands for a terminal. */
export const TerminalIcon = makeIcon(<path d="M1.8 3h12.4v10H1.8zM4.4 6l2 2-2 2M8 10.2h3.4" />);
/** Shows the help. */
export const HelpIcon = makeIcon(
  <>
    <path d="M5.6 6a2.4 2.4 0 1 1 3.6 2.1c-.8.5-1.2.9-1.2 1.7" />
    <path d="M8 12.4v.2" class="icon-dot" />
  </>,
);
/** Links to an entry. */
export const LinkIcon = makeIcon(
  <path d="M6.8 9.2l2.4-2.4M7.4 4.8l1.5-1.5a2.7 2.7 0 0 1 3.8 3.8l-1.5 1.5M8.6 11.2l-1.5 1.5a2.7 2.7 0 0 1-3.8-3.8l1.5-1.5" />,
);
/** Copies a text. */
export const CopyIcon = makeIcon(<path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />);
/** Makes an entry the end of the path: a line that ends in a node. */
export const EndHereIcon = makeIcon(
  <>
    <path d="M8 1.5v7" />
    <circle cx="8" cy="11" r="2.6" class="icon-fill" />
  </>,
);
/** Shows what the model saw. */
export const EyeIcon = makeIcon(
  <>
    <path d="M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8z" />
    <circle cx="8" cy="8" r="1.9" />
  </>,
);
/** Marks a result. */
export const ResultIcon = makeIcon(<path d="M4 2.5v5.2a2 2 0 0 0 2 2h6.5M9.7 6.8l2.9 2.9-2.9 2.9" />);
/** Opens the filters. */
export const FilterIcon = makeIcon(<path d="M2.5 3.5h11L9.3 8.6v4.2l-2.6-1.3V8.6z" />);
/** Shows two things side by side. */
export const BesideIcon = makeIcon(<path d="M2.5 3h4.5v10h-4.5zM9 3h4.5v10H9z" />);
/** Saves a file. */
export const DownloadIcon = makeIcon(<path d="M8 2.5v7.5M4.8 7L8 10.2 11.2 7M2.8 13.2h10.4" />);
/** Opens a menu. */
export const MenuIcon = makeIcon(<path d="M3.2 8h.1M8 8h.1M12.8 8h.1" class="icon-dot" />);
/** Links to another session. */
export const SessionIcon = makeIcon(<path d="M6 3H3v10h10v-3M9 3h4v4M13 3L7.5 8.5" />);
/** Unfolds everything. */
export const UnfoldIcon = makeIcon(<path d="M5 5.5L8 2.5l3 3M5 10.5l3 3 3-3" />);

interface IconButtonProps {
  readonly icon: () => ComponentChild;
  /** Accessible name of the button. */
  readonly label: string;
  /** Tooltip; default: the label with its shortcut. */
  readonly hint?: string;
  /** Key with the same effect, shown in the tooltip. */
  readonly shortcut?: string;
  readonly class?: string;
  readonly isDisabled?: boolean;
  /** Whether the part that it expands is shown; undefined if it does not expand anything. */
  readonly isExpanded?: boolean;
  readonly onClick: () => void;
}

/** Button with only an icon. */
export function IconButton(props: IconButtonProps) {
  const { icon: Icon, label, shortcut, class: extra = "", isDisabled, isExpanded, onClick } = props;
  const { hint = shortcut && `${label} (${shortcut})` } = props;
  return (
    <button
      type="button"
      class={`icon-button ${extra}`.trim()}
      aria-label={label}
      aria-expanded={isExpanded}
      title={hint}
      disabled={isDisabled}
      onClick={onClick}
    >
      <Icon />
    </button>
  );
}

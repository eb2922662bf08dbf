import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { getMessageFields } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { findAnswer } from "../../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../../core.ts";
import { Dialog } from "./help.tsx";
import { CopyIcon, EndHereIcon, EyeIcon, IconButton, LinkIcon, MenuIcon } from "./icons.tsx";
import { usePage } from "./page-context.ts";
import { makeLinkTo } from "./use-position.ts";

interface EntryActionsProps {
  readonly entry: AnySessionEntry;
  readonly ordinal: number;
  /** Whether the shown branch already ends here. */
  readonly isEnd: boolean;
  /** Returns the text to copy. */
  readonly getText: () => string;
  /** Command that produced the entry; empty if the entry is not the result of a command. */
  readonly command?: string;
}

/** Action on an entry. */
interface EntryAction {
  readonly icon: () => ComponentChild;
  readonly label: string;
  readonly hint: string;
  readonly isDisabled?: boolean;
  /** Address of the action's target, so that the browser can copy it. */
  readonly href?: string;
  readonly run: () => void;
}

/**
 * Actions on an entry: icons, which keep their space while hidden so that they cover nothing; on a narrow screen, a single button
 * that opens a menu.
 */
export function EntryActions(props: EntryActionsProps) {
  const [isMenuShown, showMenu] = useState(false);
  const actions = useActions(props);
  return (
    <span class="entry-actions no-print">
      {actions.map((action) => (
        <ActionIcon key={action.label} action={action} />
      ))}
      <IconButton
        icon={MenuIcon}
        class="entry-menu"
        label={`Actions for entry ${props.entry.id}`}
        onClick={() => showMenu(true)}
      />
      {isMenuShown && <ActionMenu {...props} actions={actions} onClose={() => showMenu(false)} />}
    </span>
  );
}

function useActions({ entry, ordinal, isEnd, getText }: EntryActionsProps): readonly EntryAction[] {
  const { session, go, copy } = usePage();
  const seen = `What the model saw ${getMoment(findAnswer(session, ordinal), ordinal)}`;
  const link = makeLinkTo(entry.id);
  return [
    { icon: EyeIcon, label: seen, hint: `${seen} (m)`, run: () => go({ go: "context", ordinal }) },
    {
      icon: EndHereIcon,
      label: "Hide what follows",
      hint: isEnd ? "Nothing that follows is shown" : "Hide what follows (x)",
      isDisabled: isEnd,
      run: () => go({ go: "end", ordinal }),
    },
    {
      icon: CopyIcon,
      label: "Copy the entry",
      hint: "Copy the text of the entry",
      run: () => copy(getText(), `entry ${entry.id}`),
    },
    {
      icon: LinkIcon,
      label: `Link to entry ${entry.id}`,
      hint: `Copy the link to entry ${entry.id}, and go there`,
      href: link,
      run: () => {
        copy(new URL(link, location.href).href, `the link to entry ${entry.id}`);
        go({ go: "entry", ordinal });
      },
    },
  ];
}

function ActionIcon({ action }: { action: EntryAction }) {
  const { icon: Icon, label, hint, isDisabled = false, href, run } = action;
  if (href === undefined)
    return <IconButton icon={Icon} label={label} hint={hint} isDisabled={isDisabled} onClick={run} />;
  return (
    <a
      class="icon-button"
      href={href}
      title={hint}
      aria-label={label}
      onClick={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <Icon />
    </a>
  );
}

interface ActionMenuProps extends EntryActionsProps {
  readonly actions: readonly EntryAction[];
  readonly onClose: () => void;
}

/** Menu of the actions with text labels. */
function ActionMenu({ entry, command = "", actions, onClose }: ActionMenuProps) {
  const { copy } = usePage();
  const ran = command || toText(getMessageFields(entry)["command"]);
  const makeCopy = (label: string, text: string, what: string) => ({
    icon: CopyIcon,
    label,
    isDisabled: false,
    run: () => copy(text, what),
  });
  const rows = [
    ...actions,
    ...(ran === "" ? [] : [makeCopy("Copy the command", ran, "the command")]),
    makeCopy("Copy the id", entry.id, `the id ${entry.id}`),
  ];
  return (
    <Dialog name="Actions" heading={`Entry ${entry.id}`} onClose={onClose}>
      <div class="action-menu">
        {rows.map(({ icon: Icon, label, isDisabled = false, run }) => (
          <button
            key={label}
            type="button"
            disabled={isDisabled}
            onClick={() => {
              onClose();
              run();
            }}
          >
            <Icon />
            {label}
          </button>
        ))}
      </div>
    </Dialog>
  );
}

/**
 * Describes the moment whose context the eye icon shows: at the answer that an entry is or results from, otherwise at the entry.
 */
function getMoment(answer: number | undefined, ordinal: number): string {
  if (answer === undefined) return "with this";
  return answer === ordinal ? "when it wrote this" : "when it made this call";
}

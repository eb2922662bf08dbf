import type { Key } from "node:readline";

const COMMANDS = {
  up: "up",
  "ctrl-p": "up",
  down: "down",
  "ctrl-n": "down",
  pageup: "page-up",
  pagedown: "page-down",
  home: "home",
  end: "end",
  return: "enter",
  enter: "enter",
  escape: "back",
  "ctrl-c": "leave",
  "ctrl-r": "rename",
  "ctrl-d": "delete",
  delete: "delete",
  tab: "toggle",
  "ctrl-f": "contents",
  backspace: "rub-out",
  "ctrl-h": "rub-out",
  "ctrl-u": "rub-out-all",
} as const;

/** What a key can ask for beside text. */
export type PickerCommand = (typeof COMMANDS)[keyof typeof COMMANDS];

/** What a key asks for: a command, or text to be added to what is typed. */
export type PickerKey = { readonly text: string } | PickerCommand;

const BY_NAME: ReadonlyMap<string, PickerCommand> = new Map(Object.entries(COMMANDS));

/** What is never text, wherever it comes from. */
const CONTROL = /\p{Cc}/u;

/** Tells what a key asks for, as Node's readline describes it, with the text that it types; undefined if nothing. */
export function pickerKey(text: string | undefined, { name, ctrl, meta }: Key): PickerKey | undefined {
  const command = name === undefined ? undefined : BY_NAME.get(`${ctrl ? "ctrl-" : ""}${name}`);
  if (command !== undefined) return command;
  if (ctrl || meta || text === undefined || text === "" || CONTROL.test(text)) return undefined;
  return { text };
}

import { type ComponentChildren, Fragment } from "preact";
import { toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { type ContentPart, formatOutputTitle, type OutputPart } from "../../../core/facts/entry-content.ts";
import { toImageAddress } from "../../../core/facts/images.ts";
import { formatCounted, joinNonempty } from "../../../core/facts/number-text.ts";
import { toShortLine, withoutMarkdown } from "../../../core/facts/plain-text.ts";
import { formatDuration } from "../../../core/facts/times.ts";
import { getTellingArgument } from "../../../core/facts/tool-calls.ts";
import { findCallFiles } from "../../../core/facts/touched-files.ts";
import { isFailure } from "../../text/entry-kind.ts";
import { formatImage, formatJson } from "../../text/stored-values.ts";
import {
  type ConversationItem,
  type EntryRow,
  findResult,
  getItemParts,
} from "../model/conversation-rows.ts";
import { failureLine, findErrorLine, getHeadingLevel, getTextToCopy } from "../model/entry-text.ts";
import { findEdits, isReadingTool } from "../model/file-changes.ts";
import { STATE_WORDS } from "../model/path-items.ts";
import { getKindAt } from "../model/session-model.ts";
import { getTookMs } from "../model/turns.ts";
import { guessLanguage } from "../render/highlight.ts";
import { renderMarkdown } from "../render/markdown.ts";
import { Code, Diff, DiffCounts, Html } from "./code.tsx";
import { EntryActions } from "./entry-actions.tsx";
import { EntryId, NestedLinks } from "./entry-head.tsx";
import { Fold } from "./fold.tsx";
import { CopyIcon, IconButton, ResultIcon } from "./icons.tsx";
import { usePage } from "./page-context.ts";

interface PartViewProps {
  /** The entry of the part, and the results of its calls. */
  readonly row: EntryRow;
  /** Name that distinguishes the parts of an entry. */
  readonly name: string;
  readonly part: ContentPart;
  readonly focus: number;
  readonly end: number;
}

/** Part of an entry's content. */
export function PartView({ row, name, part, focus, end }: PartViewProps) {
  const { ordinal } = row;
  // Below the heading of the entry, or of its turn.
  const level = (getHeadingLevel(getKindAt(usePage().session, ordinal)) ?? 2) + 1;
  switch (part.kind) {
    case "text":
      return <Markdown text={part.text} level={level} />;
    case "thinking":
      return <Thinking ordinal={ordinal} name={name} part={part} level={level} />;
    case "call":
      return <ToolUse row={row} name={name} call={part} focus={focus} end={end} />;
    case "output": {
      const { entry } = row.item;
      const output = { ordinal, name, part, failure: failureLine(entry), line: findErrorLine(entry) };
      return part.of === "command" ? <Command {...output} /> : <Output {...output} title={part.title} />;
    }
    default:
      return <StoredPart ordinal={ordinal} name={name} part={part} />;
  }
}

/** Text that may contain Markdown. */
function Markdown({ text, level }: { text: string; level: number }) {
  const { copy } = usePage();
  const html = renderMarkdown(text, level);
  if (html === undefined) return <Code text={text} />;
  const onClick = ({ target }: Event) => {
    const button = target instanceof Element ? target.closest(".copy-code") : null;
    const code = button?.parentElement?.querySelector("pre")?.textContent;
    if (code) copy(code, "the code");
  };
  return <Html class="markdown" html={html} onClick={onClick} />;
}

type ThinkingProps = Pick<PartViewProps, "name"> & {
  readonly ordinal: number;
  readonly part: Extract<ContentPart, { kind: "thinking" }>;
  /** Level of its first heading. */
  readonly level: number;
};

/** A model's thinking, folded to its first words. */
function Thinking({ ordinal, name, part: { text, isRedacted }, level }: ThinkingProps) {
  const summary = (
    <>
      <span class="fold-title">Thinking</span>
      <span class="fold-excerpt">{isRedacted ? "(withheld)" : toShortLine(withoutMarkdown(text))}</span>
    </>
  );
  return (
    <Fold ordinal={ordinal} name={name} class="thinking" summary={summary}>
      {() =>
        isRedacted ? <p class="muted">The provider withheld this.</p> : <Markdown text={text} level={level} />
      }
    </Fold>
  );
}

/** A user's command and its output, as one block. */
function Command(output: Omit<OutputProps, "title">) {
  const { part } = output;
  return (
    <div class={part.isError ? "tool-use is-failed" : "tool-use"}>
      <div class="command-line">
        <code>{formatOutputTitle(part)}</code>
        <CopyCommand command={formatOutputTitle(part).replace(/^\$ /, "")} />
      </div>
      <div class="result">
        <Output {...output} />
      </div>
    </div>
  );
}

type CallPart = Extract<ContentPart, { kind: "call" }>;

interface ToolUseProps {
  readonly row: EntryRow;
  readonly name: string;
  readonly call: CallPart;
  readonly focus: number;
  readonly end: number;
}

/** Tool call and its result as one block: the call above, the result below. */
function ToolUse({ row, name, call, focus, end }: ToolUseProps) {
  const result = findResult(row, call.id);
  const isFailed = result !== undefined && isFailure(result.entry);
  const classes = [
    "tool-use",
    isFailed ? "is-failed" : "",
    result !== undefined && result.ordinal === focus ? "is-focused" : "",
  ];
  return (
    <div class={joinNonempty(" ", ...classes)} data-entry={result?.entry.id}>
      <Call ordinal={row.ordinal} name={name} call={call} isAnswered={result !== undefined} />
      {result !== undefined && <Result item={result} call={call} isEnd={result.ordinal === end} />}
    </div>
  );
}

interface CallProps {
  readonly ordinal: number;
  readonly name: string;
  readonly call: CallPart;
  readonly isAnswered: boolean;
}

/** Tool call, folded to its most informative argument; opens to its edits or arguments. */
function Call({ ordinal, name, call, isAnswered }: CallProps) {
  const { name: tool, input } = call;
  const edits = findEdits(input);
  const command = getCommand(call);
  const isNoted = edits.length > 0 || !isAnswered;
  return (
    <Fold
      ordinal={ordinal}
      name={name}
      class="call"
      actions={command !== "" && <CopyCommand command={command} />}
      summary={
        <>
          <span class="sr-only">call: </span>
          <span class="fold-title">{tool}</span>
          <span class="fold-excerpt">{toShortLine(getTellingArgument(input))}</span>
        </>
      }
      notes={isNoted ? <CallNotes edits={edits} isAnswered={isAnswered} /> : undefined}
    >
      {() => (edits.length > 0 ? <Edits call={call} edits={edits} /> : <Arguments input={input} />)}
    </Fold>
  );
}

/** Returns the command that a call runs; empty if it does not run a command. */
function getCommand({ input }: Pick<CallPart, "input">): string {
  const { command, cmd } = toRecord(input);
  return toText(command) || toText(cmd);
}

/** Notes on a call: the number of lines it changes, and whether its result is elsewhere or missing. */
function CallNotes({ edits, isAnswered }: Pick<CallProps, "isAnswered"> & Parameters<typeof DiffCounts>[0]) {
  return (
    <>
      {edits.length > 0 && <DiffCounts edits={edits} />}
      {!isAnswered && <span class="chip">no result here</span>}
    </>
  );
}

/** Button that copies a command that a tool or user ran. */
function CopyCommand({ command }: { command: string }) {
  const { copy } = usePage();
  return (
    <span class="entry-actions no-print">
      <IconButton
        icon={CopyIcon}
        hint="Copy the command"
        label="Copy the command"
        onClick={() => copy(command, "the command")}
      />
    </span>
  );
}

function Result({ item, call, isEnd }: { item: ConversationItem; call: CallPart; isEnd: boolean }) {
  const { entry, ordinal, state } = item;
  const took = getTookMs(usePage().session, ordinal);
  const stateWord = STATE_WORDS[state];
  const parts = getItemParts(item);
  const [output] = parts;
  return (
    <div class={`result state-${state}`}>
      {output?.kind === "output" && (
        <Output
          ordinal={ordinal}
          name="0"
          part={output}
          failure={failureLine(entry)}
          line={findErrorLine(entry)}
          language={output.isError ? undefined : guessResultLanguage(call)}
          notes={
            <>
              {took !== undefined && (
                <span class="fold-size" title="From the call to its result">
                  {formatDuration(took)}
                </span>
              )}
              {stateWord !== "" && <span class={`chip is-${state}`}>{stateWord}</span>}
            </>
          }
          actions={
            <>
              <EntryId id={entry.id} />
              <EntryActions
                entry={entry}
                ordinal={ordinal}
                isEnd={isEnd}
                getText={() => getTextToCopy(parts)}
                command={getCommand(call)}
              />
            </>
          }
        />
      )}
      {parts.map(
        (part, index) =>
          isStored(part) && <StoredPart key={index} ordinal={ordinal} name={String(index)} part={part} />,
      )}
      <NestedLinks ordinal={ordinal} />
    </div>
  );
}

function guessResultLanguage({ name, input }: CallPart): string | undefined {
  return isReadingTool(name) ? guessLanguage(getPath(input)) : undefined;
}

function getPath(input: unknown): string {
  const { path, file_path } = toRecord(input);
  const found = path ?? file_path;
  return typeof found === "string" ? found : "";
}

function Edits({ call, edits }: { call: CallPart; edits: ReturnType<typeof findEdits> }) {
  const paths = findCallFiles(call).map(({ path }) => path);
  const files =
    paths.length > 1
      ? paths.map((path) => ({ path, own: findEdits(call.input, path) }))
      : [{ path: paths[0], own: edits }];
  return (
    <>
      {files.map(({ path, own }) => (
        <Fragment key={path}>
          {path !== undefined && <div class="argument-name">{path}</div>}
          {own.map((lines, index) => (
            <Diff key={index} lines={lines} path={path} />
          ))}
        </Fragment>
      ))}
    </>
  );
}

function Arguments({ input }: { input: unknown }) {
  const language = guessLanguage(getPath(input));
  const entries = Object.entries(toRecord(input));
  if (entries.length === 0) return <Code text={formatJson(input)} language="json" />;
  return (
    <>
      {entries.map(([name, value]) => (
        <div key={name} class="argument">
          <div class="argument-name">{name}</div>
          {typeof value === "string" ? (
            <Code text={value} language={guessArgumentLanguage(name, value, language)} />
          ) : (
            <Code text={formatJson(value)} language="json" />
          )}
        </div>
      ))}
    </>
  );
}

/** Guesses the language of an argument: a command is shell code, and other multi-line text is content of the call's file. */
function guessArgumentLanguage(name: string, value: string, ofFile: string | undefined): string | undefined {
  if (name === "command" || name === "cmd") return "bash";
  return value.includes("\n") ? ofFile : undefined;
}

type StoredKind = Extract<ContentPart, { kind: "data" | "image" | "note" | "failure" }>;

interface StoredPartProps {
  readonly ordinal: number;
  /** Name that distinguishes the folds of an entry. */
  readonly name: string;
  readonly part: StoredKind;
}

/** Part that looks the same in every entry: program data, an image, or a note about the entry. */
function StoredPart({ ordinal, name, part }: StoredPartProps) {
  switch (part.kind) {
    case "data":
      return (
        <Fold
          ordinal={ordinal}
          name={name}
          class="json"
          summary={<span class="fold-title">{part.title}</span>}
        >
          {() => <Code text={formatJson(part.value)} language="json" />}
        </Fold>
      );
    case "image": {
      const address = toImageAddress(part);
      return address === undefined ? (
        <p class="muted">(an image that cannot be shown: {formatImage(part)})</p>
      ) : (
        <img class="picture" src={address} alt="Stored in this entry" loading="lazy" />
      );
    }
    case "note":
      return <p class="muted">{part.text}</p>;
    case "failure":
      return <p class="error">{part.text}</p>;
  }
}

/** Returns whether `StoredPart` shows a part. */
function isStored(part: ContentPart): part is StoredKind {
  return part.kind === "data" || part.kind === "image" || part.kind === "note" || part.kind === "failure";
}

/** Content and place of an output. */
interface OutputProps {
  readonly ordinal: number;
  readonly name: string;
  readonly part: OutputPart;
  /** Title of the output if there is no call above it. */
  readonly title?: string;
  /** Most informative line of failed output; default: its first words. */
  readonly failure?: string;
  /** Line of failed output that states the error. */
  readonly line?: string;
  /** Known language of the text. */
  readonly language?: string | undefined;
  /** Additional facts on the line that is always shown. */
  readonly notes?: ComponentChildren;
  /** Actions on the output. */
  readonly actions?: ComponentChildren;
}

/** Output of a tool or command, folded to its first words or its failure, and its size. */
function Output({ ordinal, name, part, title, failure, line = "", language, notes, actions }: OutputProps) {
  const { text, isError } = part;
  const lines = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
  return (
    <Fold
      ordinal={ordinal}
      name={name}
      class={isError ? "output is-error" : "output"}
      actions={actions}
      summary={
        <>
          <ResultIcon />
          {title !== undefined && <span class="fold-title">{title}</span>}
          <span class="sr-only">result: </span>
          <span class="fold-excerpt">{failure || toShortLine(text) || "(nothing)"}</span>
        </>
      }
      notes={
        <>
          {lines > 1 && <span class="fold-size">{formatCounted(lines, "line", "lines")}</span>}
          {notes}
          {isError && <span class="chip is-failed">failed</span>}
        </>
      }
    >
      {() =>
        text === "" ? <p class="muted">(nothing)</p> : <Code text={text} language={language} line={line} />
      }
    </Fold>
  );
}

import { Fragment } from "preact";
import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { textOf } from "../../../core/context/message-parts.ts";
import type { ContentPart } from "../../../core/facts/entry-content.ts";
import { tellingArgument } from "../../../core/facts/key-argument.ts";
import { beginningOf } from "../../../core/facts/plain-text.ts";
import { duration } from "../../../core/facts/times.ts";
import { filesOfCall } from "../../../core/facts/touched-files.ts";
import { isFailure } from "../../text/entry-kind.ts";
import { prettyJson } from "../../text/pretty-json.ts";
import { type ConversationItem, type EntryRow, partsOfItem } from "../model/conversation-rows.ts";
import { editsIn } from "../model/edit-diff.ts";
import { textToCopy } from "../model/entry-text.ts";
import { errorLineOf, failureLine } from "../model/failure-line.ts";
import { STATE_WORDS } from "../model/path-items.ts";
import { tookMs } from "../model/turns.ts";
import { languageOfFile } from "../render/highlight.ts";
import { Code } from "./code.tsx";
import { Diff, DiffCounts } from "./diff.tsx";
import { EntryActions, EntryId } from "./entry-actions.tsx";
import { Fold } from "./fold.tsx";
import { CallIcon, CopyIcon, IconButton } from "./icons.tsx";
import { NestedLinks } from "./nested-links.tsx";
import { Output } from "./output.tsx";
import { usePage } from "./page-context.ts";
import { isStored, StoredPart } from "./stored-part.tsx";

type CallPart = Extract<ContentPart, { kind: "call" }>;

interface ToolUseProps {
  readonly row: EntryRow;
  readonly name: string;
  readonly call: CallPart;
  readonly focus: number;
  readonly end: number;
}

/** A call of a tool and its result, one block: what was asked above, what came back below. */
export function ToolUse({ row, name, call, focus, end }: ToolUseProps) {
  const result = row.results.get(call.id);
  const isFailed = result !== undefined && isFailure(result.entry);
  const classes = [
    "tool-use",
    isFailed ? "is-failed" : "",
    result !== undefined && result.ordinal === focus ? "is-focused" : "",
  ];
  return (
    <div class={classes.filter(Boolean).join(" ")} data-entry={result?.entry.id}>
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

/** Folded to what says most about the call, opened to its changes or arguments. */
function Call({ ordinal, name, call, isAnswered }: CallProps) {
  const { name: tool, input } = call;
  const edits = editsIn(input);
  const { command: given, cmd } = fieldsOf(input);
  const command = textOf(given) || textOf(cmd);
  return (
    <Fold
      ordinal={ordinal}
      name={name}
      class="call"
      actions={command !== "" && <CopyCommand command={command} />}
      summary={
        <>
          <CallIcon />
          <span class="sr-only">call: </span>
          <span class="fold-title">{tool}</span>
          <span class="fold-excerpt">{beginningOf(tellingArgument(input))}</span>
          {edits.length > 0 && <DiffCounts edits={edits} />}
          {!isAnswered && <span class="chip">no result here</span>}
        </>
      }
    >
      {() => (edits.length > 0 ? <Edits call={call} edits={edits} /> : <Arguments input={input} />)}
    </Fold>
  );
}

/** Copies a command that a tool, or a person, ran. */
export function CopyCommand({ command }: { command: string }) {
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
  const took = tookMs(usePage().session, ordinal);
  const stateWord = STATE_WORDS[state];
  const parts = partsOfItem(item);
  const [output] = parts;
  return (
    <div class={`result state-${state}`}>
      {output?.kind === "output" && (
        <Output
          ordinal={ordinal}
          name="0"
          part={output}
          failure={failureLine(entry)}
          line={errorLineOf(entry)}
          language={output.isError ? undefined : languageOfResult(call)}
          notes={
            <>
              {took !== undefined && (
                <span class="fold-size" title="From the call to its result">
                  {duration(took)}
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
                isNarrow={true}
                textOf={() => textToCopy(parts)}
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

/** Tools that give a file back as it is; what others say about a file is prose. */
const READS_FILE = /(?:^|[^a-z])(?:read|view|cat|open)/i;

function languageOfResult({ name, input }: CallPart): string | undefined {
  return READS_FILE.test(name) ? languageOfFile(pathIn(input)) : undefined;
}

function pathIn(input: unknown): string {
  const { path, file_path } = fieldsOf(input);
  const found = path ?? file_path;
  return typeof found === "string" ? found : "";
}

function Edits({ call, edits }: { call: CallPart; edits: ReturnType<typeof editsIn> }) {
  const paths = filesOfCall(call).map(({ path }) => path);
  const files =
    paths.length > 1
      ? paths.map((path) => ({ path, own: editsIn(call.input, path) }))
      : [{ path: paths[0], own: edits }];
  return (
    <>
      {files.map(({ path, own }) => (
        <Fragment key={path}>
          {path !== undefined && <div class="argument-name">{path}</div>}
          {own.map((lines, index) => (
            <Diff key={index} lines={lines} />
          ))}
        </Fragment>
      ))}
    </>
  );
}

function Arguments({ input }: { input: unknown }) {
  const language = languageOfFile(pathIn(input));
  const entries = Object.entries(fieldsOf(input));
  if (entries.length === 0) return <Code text={prettyJson(input)} language="json" />;
  return (
    <>
      {entries.map(([name, value]) => (
        <div key={name} class="argument">
          <div class="argument-name">{name}</div>
          {typeof value === "string" ? (
            <Code text={value} language={languageOfArgument(name, value, language)} />
          ) : (
            <Code text={prettyJson(value)} language="json" />
          )}
        </div>
      ))}
    </>
  );
}

/** What has several lines is content of the file that the call is about; commands are commands. */
function languageOfArgument(name: string, value: string, ofFile: string | undefined): string | undefined {
  if (name === "command" || name === "cmd") return "bash";
  return value.includes("\n") ? ofFile : undefined;
}

import { fieldsOf } from "../../context/entry-fields.ts";
import { isFailure } from "../../view/entry-kind.ts";
import { beginningOf } from "../../view/plain.ts";
import { prettyJson } from "../../view/pretty-json.ts";
import { tellingArgument } from "../../view/telling-argument.ts";
import type { Block } from "../model/blocks.ts";
import type { ConversationItem, EntryRow } from "../model/conversation-rows.ts";
import { editsIn } from "../model/edit-diff.ts";
import { failureLine } from "../model/failure-line.ts";
import { languageOfFile } from "../render/highlight.ts";
import { Code } from "./code.tsx";
import { Diff, DiffCounts } from "./diff.tsx";
import { EntryActions } from "./entry-actions.tsx";
import { EntryId } from "./entry-id.tsx";
import { Fold } from "./fold.tsx";
import { CallIcon } from "./icons.tsx";
import { blocksOfItem } from "./item-blocks.ts";
import { JsonFold } from "./json-fold.tsx";
import { NestedLinks } from "./nested-links.tsx";
import { Output } from "./output.tsx";
import { STATE_WORDS } from "./state-words.ts";

type CallBlock = Extract<Block, { kind: "call" }>;

interface ToolUseProps {
  readonly row: EntryRow;
  readonly name: string;
  readonly call: CallBlock;
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
  readonly call: CallBlock;
  readonly isAnswered: boolean;
}

/** Folded to what says most about the call, opened to its changes or arguments. */
function Call({ ordinal, name, call, isAnswered }: CallProps) {
  const { name: tool, given } = call;
  const edits = editsIn(given);
  return (
    <Fold
      ordinal={ordinal}
      name={name}
      class="call"
      summary={
        <>
          <CallIcon />
          <span class="sr-only">call: </span>
          <span class="fold-title">{tool}</span>
          <span class="fold-excerpt">{beginningOf(tellingArgument(given))}</span>
          {edits.length > 0 && <DiffCounts edits={edits} />}
          {!isAnswered && <span class="chip">no result here</span>}
        </>
      }
    >
      {() => (edits.length > 0 ? <Edits given={given} edits={edits} /> : <Arguments given={given} />)}
    </Fold>
  );
}

function Result({ item, call, isEnd }: { item: ConversationItem; call: CallBlock; isEnd: boolean }) {
  const { entry, ordinal, state } = item;
  const stateWord = STATE_WORDS[state];
  const [output, ...others] = blocksOfItem(item);
  return (
    <div class={`result state-${state}`}>
      {output?.kind === "output" && (
        <Output
          ordinal={ordinal}
          name="0"
          block={output}
          failure={failureLine(entry)}
          language={output.isError ? undefined : languageOfResult(call)}
          notes={stateWord !== "" && <span class={`chip is-${state}`}>{stateWord}</span>}
          actions={
            <>
              <EntryId id={entry.id} />
              <EntryActions entry={entry} ordinal={ordinal} isEnd={isEnd} isNarrow={true} />
            </>
          }
        />
      )}
      {(output?.kind === "output" ? others : [output, ...others]).map((block, index) =>
        block?.kind === "json" ? (
          <JsonFold key={index} ordinal={ordinal} name={`other ${index}`} block={block} />
        ) : block?.kind === "image" ? (
          <img key={index} class="picture" src={block.source} alt="Given back by the tool" loading="lazy" />
        ) : (
          block?.kind === "line" && (
            <p key={index} class="muted">
              {block.text}
            </p>
          )
        ),
      )}
      <NestedLinks ordinal={ordinal} />
    </div>
  );
}

/** Tools that give a file back as it is; what others say about a file is prose. */
const READS_FILE = /(?:^|[^a-z])(?:read|view|cat|open)/i;

function languageOfResult({ name, given }: CallBlock): string | undefined {
  return READS_FILE.test(name) ? languageOfFile(pathIn(given)) : undefined;
}

function pathIn(given: unknown): string {
  const { path, file_path } = fieldsOf(given);
  const found = path ?? file_path;
  return typeof found === "string" ? found : "";
}

function Edits({ given, edits }: { given: unknown; edits: ReturnType<typeof editsIn> }) {
  const path = pathIn(given);
  return (
    <>
      {path !== "" && <div class="argument-name">{path}</div>}
      {edits.map((lines, index) => (
        <Diff key={index} lines={lines} />
      ))}
    </>
  );
}

function Arguments({ given }: { given: unknown }) {
  const fields = fieldsOf(given);
  const language = languageOfFile(pathIn(given));
  const entries = Object.entries(fields);
  if (entries.length === 0) return <Code text={prettyJson(given)} language="json" />;
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

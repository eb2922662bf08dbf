import { editsIn } from "../model/edit-diff.ts";
import { tellingArgument } from "../model/excerpt.ts";
import { fieldsOf, prettyJson } from "../model/fields.ts";
import { languageOfFile } from "../render/highlight.ts";
import { Code } from "./code.tsx";
import { Diff, DiffCounts } from "./diff.tsx";
import { Fold } from "./fold.tsx";

interface ToolCallProps {
  readonly ordinal: number;
  readonly name: string;
  readonly tool: string;
  /** The arguments, as somebody stored them. */
  readonly given: unknown;
}

/** A call of a tool: folded to what says most about it, opened to its changes or arguments. */
export function ToolCall({ ordinal, name, tool, given }: ToolCallProps) {
  const edits = editsIn(given);
  return (
    <Fold
      ordinal={ordinal}
      name={name}
      class="call"
      summary={
        <>
          <span class="fold-title">{tool}</span>
          <span class="fold-excerpt">{tellingArgument(given)}</span>
          {edits.length > 0 && <DiffCounts edits={edits} />}
        </>
      }
    >
      {() => (edits.length > 0 ? <Edits given={given} edits={edits} /> : <Arguments given={given} />)}
    </Fold>
  );
}

function Edits({ given, edits }: { given: unknown; edits: ReturnType<typeof editsIn> }) {
  const path = fieldsOf(given)["path"] ?? fieldsOf(given)["file_path"];
  return (
    <>
      {typeof path === "string" && <div class="argument-name">{path}</div>}
      {edits.map((lines, index) => (
        <Diff key={index} lines={lines} />
      ))}
    </>
  );
}

function Arguments({ given }: { given: unknown }) {
  const fields = fieldsOf(given);
  const path = fields["path"] ?? fields["file_path"];
  const language = typeof path === "string" ? languageOfFile(path) : undefined;
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

import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { decodeRawText } from "../model/session-model.ts";
import { Code } from "./code.tsx";
import { CommandLine } from "./commands.tsx";
import { LinkButton } from "./controls.tsx";
import { usePage } from "./page-context.ts";
import { VirtualList } from "./virtual-list.tsx";

/** Issues in the file, and their positions: no issues are hidden or repaired silently. */
export function IssuesView() {
  const { session, go, path } = usePage();
  const { issues, bytes, tree } = session;
  if (issues.length === 0) return <div class="empty">This file has no issues.</div>;
  return (
    <div class="issues-page">
      <p class="issues-head">
        {formatCounted(issues.length, "issue", "issues")} in {session.fileName}. The readable parts are shown
        in place; the file was not changed. To check it again, or to repair it and keep the original:
        <CommandLine words={["sessiontree", "verify", path]} />
        <CommandLine words={["sessiontree", "repair", path]} />
      </p>
      <VirtualList
        class="issues"
        label="Issues"
        items={issues.map((issue, index) => ({ issue, index }))}
        getKey={({ index }) => index}
        estimate={() => 120}
        render={({ issue }) => {
          const ordinal = tree.find(issue.entryId ?? "");
          return (
            <article class="issue">
              <header>
                <code>{issue.code}</code>
                <span>
                  {issue.line > 0 ? `line ${formatCount(issue.line)}, ` : ""}offset{" "}
                  {formatCount(issue.offset)}
                </span>
                {ordinal !== NONE && (
                  <LinkButton onClick={() => go({ go: "entry", ordinal })}>
                    Show entry {issue.entryId}
                  </LinkButton>
                )}
              </header>
              <p>{issue.message}</p>
              {issue.length > 0 && <Code text={decodeRawText(bytes, issue)} />}
            </article>
          );
        }}
      />
    </div>
  );
}

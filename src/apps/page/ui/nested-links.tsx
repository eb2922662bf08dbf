import { quoteForShell } from "../../text/shell-quoting.ts";
import { SessionIcon } from "./icons.tsx";
import { usePage } from "./page-context.ts";

/** The sessions that an entry names, such as that of a subagent: links, or how to open them where no server has them. */
export function NestedLinks({ ordinal }: { ordinal: number }) {
  const { session } = usePage();
  return (
    <>
      {(session.linked.get(ordinal) ?? []).map(({ path, href }) =>
        href === undefined ? (
          <span key={path} class="nested-link" title={path}>
            <SessionIcon />
            nested session: <code>sessiontree view {quoteForShell(path)}</code>
          </span>
        ) : (
          <a key={path} class="nested-link" href={href} title={path} target="_blank" rel="noopener">
            <SessionIcon />
            nested session
          </a>
        ),
      )}
    </>
  );
}

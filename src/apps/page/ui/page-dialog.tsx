import { NONE } from "../../../core/tree/entry-tree.ts";
import { getSubject, type Position } from "../model/navigation.ts";
import { Commands } from "./commands.tsx";
import { Downloads } from "./downloads.tsx";
import { Help, SIGNS } from "./help.tsx";
import { KEY_HELP } from "./keys.ts";
import type { Panels } from "./use-panels.ts";

/** The open dialog, if any. */
export function PageDialog({ panels, position }: { panels: Panels; position: Position }) {
  const [dialog, showDialog] = panels.dialog;
  const subject = getSubject(position);
  const close = () => showDialog("none");
  return (
    <>
      {dialog === "help" && <Help keys={KEY_HELP} signs={SIGNS} onClose={close} />}
      {dialog === "downloads" && <Downloads end={position.end} onClose={close} />}
      {dialog === "commands" && (
        <Commands ordinal={subject === NONE ? position.end : subject} onClose={close} />
      )}
    </>
  );
}

import { findOpenClaw } from "../../interop/history/openclaw.ts";
import { type SessionPlace, sessionScope } from "./session-argument.ts";

/** Name of the program that writes sessions of this format into folders of its own. */
export const OPENCLAW = "openclaw";

/** Returns the folders in which other programs keep sessions of this format; none if a folder is named. */
export function otherFolders(place: SessionPlace): readonly string[] {
  const isNamed = sessionScope(place, true).includeImported !== true;
  return isNamed ? [] : findOpenClaw(place.io.env).folders;
}

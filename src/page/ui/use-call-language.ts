import { fieldsOf, listOf } from "../model/fields.ts";
import { NONE, type SessionModel } from "../model/session-model.ts";
import { languageOfFile } from "../render/highlight.ts";
import { usePage } from "./use-page.ts";

/** A call stands at most so many entries above its result. */
const FARTHEST = 50;

/** Guesses the language of a tool's result by the file that the call asked for. */
export function useCallLanguage(ordinal: number, callId: string | undefined): string | undefined {
  const { session } = usePage();
  return callId ? languageOfFile(pathAskedFor(session, ordinal, callId)) : undefined;
}

function pathAskedFor({ entries, parents }: SessionModel, ordinal: number, callId: string): string {
  let at = ordinal;
  for (let climbed = 0; climbed < FARTHEST && at !== NONE; climbed++) {
    const { content } = fieldsOf(fieldsOf(entries[at])["message"]);
    const call = listOf(content).find((part) => fieldsOf(part)["id"] === callId);
    const given = fieldsOf(fieldsOf(call)["arguments"]);
    const path = given["path"] ?? given["file_path"];
    if (call !== undefined) return typeof path === "string" ? path : "";
    at = parents[at] ?? NONE;
  }
  return "";
}

// Compiled like types.ts, for a page in a browser: without Node's types.
import { buildSessionContext, convertToLlm, parseSessionEntries } from "sessiontree/core";

export function listRoles(file: string): string[] {
  const entries = parseSessionEntries(file).filter((record) => record.type !== "session");
  return convertToLlm(buildSessionContext(entries).messages).map((message) => message.role);
}

// @ts-expect-error A file's text is a string: if the declarations were `any`, nothing would be wrong here.
parseSessionEntries(1);

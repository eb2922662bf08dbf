import { plainLine } from "../view/plain.ts";
import type { CommandCall } from "./command.ts";

/** Prints a path: as it is for a program, and harmless where a terminal shows it. */
export function printPath({ io, out }: Pick<CommandCall, "io" | "out">, path: string): void {
  out.line(io.stdout.isTTY === true ? plainLine(path) : path);
}

import { tmpdir } from "node:os";
import { join } from "node:path";
import stringWidth from "string-width";
import { onTestFinished, vi } from "vitest";
import type { CliInput, CliStores, CliStream, CliTerminal } from "../../../../src/apps/cli/io.ts";
import { run } from "../../../../src/apps/cli/run.ts";
import { temporaryFolder as newFolder } from "../../../support/temporary-folder.ts";
import { TestDatabase } from "./stores.ts";

/** The current time of the command line in tests. */
export const NOW_MS = Date.parse("2026-02-10T12:00:00.000Z");

/** The result of a command line. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Lines of stdout, without the last line break. */
  readonly lines: string[];
}

/** Options for a run in a test. */
export interface CliSettings {
  readonly cwd?: string;
  readonly env?: { readonly [name: string]: string };
  /** Makes stdout a terminal with this number of columns. */
  readonly columns?: number;
  /** Answers questions. */
  readonly ask?: (question: string) => Promise<string>;
  /** Called with all output on stdout, piece by piece. */
  readonly onOutput?: (text: string) => void;
  readonly untilInterrupted?: () => AbortSignal;
  /** Opens a file. */
  readonly open?: (path: string) => Promise<boolean>;
  /** The terminal that pickers draw on. */
  readonly terminal?: CliTerminal;
  /** The content of stdin. */
  readonly stdin?: CliInput;
  /** Runs the same command line in another process. */
  readonly again?: (input: string) => Promise<void>;
  /** Aborts when a hook must answer. */
  readonly deadline?: AbortSignal;
  /** Connects to databases; default: an empty one. */
  readonly stores?: CliStores;
}

/** A terminal of 80 columns without colors. */
export const TERMINAL: CliSettings = { columns: 80, env: { NO_COLOR: "1" } };

/** Runs the command line with streams that record their output. */
export async function cli(args: readonly string[], settings: CliSettings = {}): Promise<CliResult> {
  const out: string[] = [];
  const errors: string[] = [];
  const { columns, ask, onOutput, stdin, untilInterrupted, open, terminal, again, deadline } = settings;
  const stdout: CliStream = {
    write: (text: string) => {
      out.push(text);
      onOutput?.(text);
    },
    ...(columns !== undefined && { isTTY: true, columns }),
  };
  const code = await run(args, {
    stdout,
    stderr: { write: (text: string) => errors.push(text) },
    env: settings.env ?? {},
    cwd: settings.cwd ?? tmpdir(),
    now: () => NOW_MS,
    stores: settings.stores ?? new TestDatabase(),
    ...(stdin && { stdin }),
    ...(ask && { ask }),
    ...(untilInterrupted && { untilInterrupted }),
    ...(again && { again }),
    ...(deadline && { deadline }),
    ...(open && { open }),
    ...(terminal && { terminal }),
  });
  const text = out.join("");
  return { code, stdout: text, stderr: errors.join(""), lines: text.replace(/\n$/, "").split("\n") };
}

/** Returns the values that were written as JSON, one per line. */
export function jsonLines({ stdout }: CliResult): unknown[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

/** Returns the number of columns of the widest line. */
export function widest({ lines }: CliResult): number {
  return Math.max(...lines.map((line) => stringWidth(line)));
}

/** Creates a folder for one test, and isolates it from the machine's times, caches, and sessions. */
export function temporaryFolder(): string {
  const folder = newFolder();
  vi.stubEnv("TZ", "UTC");
  vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache"));
  vi.stubEnv("XDG_DATA_HOME", join(folder, "data"));
  vi.stubEnv("PI_CODING_AGENT_DIR", join(folder, "agent"));
  vi.stubEnv("PI_SESSIONS_DIR", "");
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  return folder;
}

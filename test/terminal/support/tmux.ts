import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { onTestFinished, vi } from "vitest";
import { PATIENCE_MS } from "../../support/patience.ts";

const BIN = fileURLToPath(new URL("../../../src/apps/cli/bin.ts", import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

/** Shell command of the program. */
export const SESSIONTREE = [process.execPath, "--import", TSX, BIN].map(quoted).join(" ");

/** Milliseconds between two checks of a screen. */
const LOOK_MS = 50;

/** Settings of a terminal. */
export interface TerminalSettings {
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd: string;
  /** Environment in addition to that of the tests. */
  readonly env?: { readonly [name: string]: string };
}

/** Terminal in which a shell command runs, in a separate tmux. */
export class TmuxTerminal {
  readonly #socket: string;
  readonly #env: NodeJS.ProcessEnv;

  /** @param command - For the shell; the terminal stays after it has ended. */
  constructor(command: string, { columns = 80, rows = 24, cwd, env = {} }: TerminalSettings) {
    const folder = mkdtempSync(join(tmpdir(), "sessiontree-tmux-"));
    this.#socket = join(folder, "socket");
    const { TMUX: _tmux, FORCE_COLOR: _forced, NO_COLOR: _no, ...own } = process.env;
    this.#env = { ...own, LC_ALL: "C.UTF-8", TERM: "xterm-256color", TZ: "UTC", SHELL: "/bin/sh", ...env };
    onTestFinished(() => {
      this.#tmux("kill-server");
      rmSync(folder, { recursive: true, force: true });
    });
    const size = ["-x", String(columns), "-y", String(rows)];
    this.#tmux("new-session", "-d", ...size, "-c", cwd, `${command}; exec cat`);
  }

  /** Presses keys by tmux's names: `Down`, `Enter`, `C-r`. */
  press(...keys: string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  /** Types text. */
  type(text: string): void {
    this.#tmux("send-keys", "-l", text);
  }

  resize(columns: number, rows: number): void {
    this.#tmux("resize-window", "-x", String(columns), "-y", String(rows));
  }

  /** Lines on the screen. */
  get lines(): string[] {
    return this.#tmux("capture-pane", "-p").replace(/\n$/, "").split("\n");
  }

  /** Returns a tmux variable of the terminal, such as `cursor_flag`. */
  fact(name: string): string {
    return this.#tmux("display-message", "-p", `#{${name}}`).trimEnd();
  }

  /** Whether the previous screen is shown again, with a cursor. */
  get isRestored(): boolean {
    return this.fact("alternate_on") === "0" && this.fact("cursor_flag") === "1";
  }

  /** Waits until the screen shows all of these. */
  async shows(...wanted: (string | RegExp)[]): Promise<void> {
    await this.until(`to show ${wanted.join(" and ")}`, () => {
      const { lines } = this;
      return wanted.every((one) =>
        lines.some((line) => (typeof one === "string" ? line.includes(one) : one.test(line))),
      );
    });
  }

  /** Waits until a condition is true; on a timeout, the error shows the screen. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    try {
      await vi.waitUntil(isSo, { timeout: PATIENCE_MS, interval: LOOK_MS });
    } catch (cause) {
      throw new Error(`Waited in vain for the terminal ${what}. It shows:\n${this.lines.join("\n")}`, {
        cause,
      });
    }
  }

  #tmux(...args: string[]): string {
    return execFileSync("tmux", ["-u", "-f", "/dev/null", "-S", this.#socket, ...args], {
      env: this.#env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }
}

/** Quotes a text for the shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

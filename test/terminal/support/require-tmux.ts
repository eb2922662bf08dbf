import { spawnSync } from "node:child_process";

/** Fails before any test if there is no tmux. */
export default function requireTmux(): void {
  const { error, status } = spawnSync("tmux", ["-V"]);
  if (error === undefined && status === 0) return;
  throw new Error(
    "The tests of the terminal need tmux. Install it (apt-get install tmux), or run only npm test.",
  );
}

import { cpSync, existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SessionManager } from "sessiontree";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { Places } from "../../history/support/places.ts";

const SHARED = fileURLToPath(new URL("../../../../../shared/", import.meta.url));
const OURS = join(SHARED, "corpus");
const OTHERS = join(SHARED, "corpus-other-agents/generated");

/** Reason why no sessions are available; undefined if there are some. */
export const NO_CORPUS =
  existsSync(OURS) && existsSync(OTHERS)
    ? undefined
    : "needs ../shared/corpus and ../shared/corpus-other-agents";

/** Folders of the programs' files below the home folder. */
const HOMES: { readonly [program: string]: string } = {
  "claude-code": ".claude/projects/-home-ada-project",
  cline: ".cline",
  codex: ".codex",
  copilot: ".copilot",
  kimi: ".kimi-code",
  qwen: ".qwen",
};

/** Opens corpus sessions in a temporary folder, importing those of other programs. */
export async function openCorpusSessions(): Promise<SessionManager[]> {
  const paths = [...copyOurs(), ...(await importOthers())];
  const sessions = paths.map((path) => SessionManager.open(path, { mode: "read-only" }));
  const isSaid = ({ role }: { role: string }) => role === "user" || role === "assistant";
  return sessions.filter((session) => session.buildSessionContext().messages.some(isSaid));
}

function copyOurs(): string[] {
  const folder = temporaryFolder();
  const names = readdirSync(OURS, { recursive: true, encoding: "utf8" });
  const own = names.filter((name) => name.endsWith(".jsonl") && !basename(name).startsWith("wrong-")).sort();
  return own.map((name, i) => {
    const path = join(folder, `${i}-${basename(name)}`);
    cpSync(join(OURS, name), path);
    return path;
  });
}

async function importOthers(): Promise<string[]> {
  const paths: string[] = [];
  for (const [program, home] of Object.entries(HOMES)) {
    for (const name of readdirSync(join(OTHERS, program)).sort()) {
      const places = new Places();
      cpSync(join(OTHERS, program, name), join(places.home, home), { recursive: true });
      for (const { path } of await places.import({ onSkipped: () => undefined })) if (path) paths.push(path);
    }
  }
  return paths;
}

/** Selects sessions evenly across all programs. */
export function chooseSessions(all: readonly SessionManager[], count: number): SessionManager[] {
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)] ?? []).flat();
}

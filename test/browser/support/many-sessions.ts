import { temporaryFolder } from "../../apps/cli/support/cli.ts";
import { Scribe } from "../../apps/cli/support/sessions.ts";

const makeId = (number: number) => `0198aaaa-0000-7000-8000-0000000000${String(number).padStart(2, "0")}`;

const SESSIONS = 30;

/** Creates a folder with more sessions than fit on a screen, of two projects; all but one mention lighthouses, one of them often. */
export function makeManySessions(): string {
  const folder = temporaryFolder();
  for (let number = 1; number < SESSIONS; number++) {
    const cwd = number % 10 === 0 ? "/projects/notes" : "/projects/shop";
    const scribe = new Scribe(folder, makeId(number), cwd, undefined, Date.now() - number * 86_400_000);
    scribe.user(`Task ${number}`);
    scribe.assistant(`There is lighthouse ${number}.`);
  }
  const often = new Scribe(folder, makeId(SESSIONS), "/projects/shop", undefined, Date.now() - 3_600_000);
  often.user("Count");
  for (let i = 0; i < 5; i++) often.assistant(`Here is a lighthouse, number ${i}.`);
  const quiet = new Scribe(folder, makeId(SESSIONS + 1), "/projects/shop");
  quiet.user("Nothing here");
  return folder;
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { appendConversation } from "sessiontree/convert";
import { expect, test } from "vitest";
import { modelOfText, searchModel } from "../page/support/session.ts";
import { cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe } from "./support/sessions.ts";

const TEXT = "Answer in rhymes, never in prose.";

test("shows and finds instructions changed by a chat wherever entries are shown", async () => {
  const folder = temporaryFolder();
  const scribe = new Scribe(folder);
  scribe.user("Hello.");
  appendConversation(scribe.session, [
    { role: "system", content: TEXT, timestamp: 1 },
    { role: "user", content: "Hello.", timestamp: 1 },
  ]);
  const [id] = scribe.session.getEntries().flatMap((entry) => {
    return entry.type === "message" && entry.message.role === "system" ? [entry.id] : [];
  });

  expect((await cli(["tree", scribe.path])).stdout).toContain(TEXT);
  expect((await cli(["context", scribe.path])).stdout).toContain(TEXT);
  expect((await cli(["show", scribe.path, String(id)])).stdout).toContain(TEXT);
  const markdown = join(folder, "session.md");
  await cli(["export", scribe.path, "--markdown", markdown]);
  expect(readFileSync(markdown, "utf8")).toContain(TEXT);
  const hits = jsonLines(await cli(["search", "rhymes", "--dir", folder, "--json"]));
  expect(hits).toMatchObject([{ role: "system", snippet: TEXT }]);
  const page = modelOfText(readFileSync(scribe.path, "utf8"));
  expect(searchModel(page, "rhymes")).toHaveLength(1);
});

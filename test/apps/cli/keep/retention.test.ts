import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  CLAUDE_RETENTION,
  GEMINI_RETENTION,
  OPENCLAW_RETENTION,
  readRetention,
} from "../../../../src/apps/cli/keep/retention.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const CLAUDE = "cleanupPeriodDays";
const GEMINI = "general.sessionRetention";
const OPENCLAW = "session.maintenance";

test.each([
  [CLAUDE_RETENTION, "{}", true, `deletes sessions 30 days after their last use (${CLAUDE}, default)`],
  [
    CLAUDE_RETENTION,
    `{"${CLAUDE}": 365}`,
    true,
    `deletes sessions 365 days after their last use (${CLAUDE})`,
  ],
  [CLAUDE_RETENTION, `{"${CLAUDE}": "x"}`, null, `may delete sessions: ${CLAUDE} has no number of days`],
  [
    CLAUDE_RETENTION,
    "{",
    null,
    `may delete sessions: ${CLAUDE} is unknown, because its settings cannot be read`,
  ],
  [GEMINI_RETENTION, "{}", true, `deletes sessions after 30d (${GEMINI}.maxAge, default)`],
  [
    GEMINI_RETENTION,
    '{"general": {"sessionRetention": {"maxAge": "7d", "maxCount": 50}}} // short',
    true,
    `deletes sessions after 7d (${GEMINI}.maxAge), and all but the latest 50 of a project`,
  ],
  [
    GEMINI_RETENTION,
    '{"general": {"sessionRetention": {"enabled": false}}}',
    false,
    `keeps sessions until you delete them (${GEMINI}.enabled is false)`,
  ],
  [
    OPENCLAW_RETENTION,
    "{}",
    true,
    `archives or deletes sessions after 30d (${OPENCLAW}.pruneAfter, default)`,
  ],
  [
    OPENCLAW_RETENTION,
    '{"session": {"maintenance": {"mode": "warn"}}}',
    false,
    `keeps sessions until you delete them (${OPENCLAW}.mode is "warn")`,
  ],
])("what is deleted, by %o with %s", (rule, settings, deletes, text) => {
  const path = join(temporaryFolder(), "settings.json");
  writeFileSync(path, settings);
  expect(readRetention(rule, path)).toMatchObject({ deletes, text });
});

test("without settings the default counts", () => {
  const path = join(temporaryFolder(), "settings.json");
  expect(readRetention(CLAUDE_RETENTION, path)).toMatchObject({
    deletes: true,
    after: "30 days",
    isDefault: true,
  });
});

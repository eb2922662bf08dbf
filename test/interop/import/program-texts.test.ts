import { expect, test } from "vitest";
import { convertToLlm } from "../../../src/core/context/convert-to-llm.ts";
import { getExcerpt } from "../../../src/core/facts/excerpt.ts";
import { importCline } from "../../../src/interop/import/cline/import-cline.ts";
import { importGemini, readGeminiText } from "../../../src/interop/import/gemini/import-gemini.ts";
import type { ImportedSession } from "../../../src/interop/import/imported-session.ts";
import { importKimi, readKimiText } from "../../../src/interop/import/kimi/import-kimi.ts";
import { importOpenCode } from "../../../src/interop/import/opencode/import-opencode.ts";
import * as claude from "./support/claude-records.ts";
import * as codex from "./support/codex-records.ts";
import * as copilot from "./support/copilot-records.ts";
import { answer, makeDocument, prompt, text } from "./support/opencode-records.ts";
import { readView } from "./support/session-view.ts";

const importedAt = "2027-01-01T00:00:00.000Z";

/** Texts that a program generated itself, numbered to be distinct. */
const own = (n: number, front = "", back = "") => `${front}RULES ${n}${back}`;

/** The texts as Codex sends them; all but the last are sent as user messages. */
const CODEX_TEXTS = [
  "<environment_context>",
  "<user_instructions>",
  "<INSTRUCTIONS>",
  "<permissions instructions>",
  "<skills_instructions>",
  "<apps_instructions>",
  "<skill>",
  "<turn_aborted>",
  "# AGENTS.md instructions for /code\n\n",
].map((front, n) => codex.said("user", own(n, front)));

function kimiMessage(n: number, content: string, kind: string) {
  const message = { role: "user", id: `m${n}`, content, origin: { kind } };
  return { type: "context.append_message", agentId: "main", message, time: n };
}

/** Sessions in which the user sent "Count the taps" and the program sent more. */
const SESSIONS: readonly (readonly [program: string, texts: number, sessions: () => ImportedSession[]])[] = [
  [
    "Codex",
    10,
    () => {
      const rules = codex.said("developer", own(9));
      const records = [codex.meta(), rules, ...CODEX_TEXTS, ...codex.turn("Count the taps")];
      return [codex.importThread([records]) ?? []].flat();
    },
  ],
  [
    "Claude Code",
    5,
    () => {
      const isMeta = { isMeta: true };
      const called = [claude.text(own(4)), { type: "tool_result", tool_use_id: "t1", content: "out" }];
      return claude.importAll([
        claude.user("m", null, own(0), isMeta),
        claude.user("c", "m", own(1, "<command-name>", "</command-name>")),
        claude.user("o", "c", own(2, "<local-command-stdout>")),
        claude.user("b", "o", own(3, "<bash-stdout>")),
        claude.user("q", "b", "Count the taps"),
        claude.part("a", "q", "m1", claude.call("t1")),
        claude.user("r", "a", called, isMeta),
      ]);
    },
  ],
  [
    "Copilot CLI",
    1,
    () =>
      copilot.importEvents(
        copilot.numbered([
          copilot.start(),
          copilot.prompt("x", { source: "skill-pdf", transformedContent: own(0) }),
          copilot.prompt("Count the taps"),
        ]),
      ),
  ],
  [
    "Gemini CLI",
    2,
    () => {
      const said = (id: string, content: string) => ({ id, timestamp: importedAt, type: "user", content });
      const lines = claude.joinLines([
        { sessionId: "g", projectHash: "h", startTime: importedAt },
        said("u1", own(0, "<session_context>")),
        said("u2", own(1, "/memory ")),
        said("u3", "Count the taps"),
      ]);
      return [importGemini({ ...readGeminiText(lines), importedAt }) ?? []].flat();
    },
  ],
  [
    "Kimi Code",
    1,
    () => {
      const lines = [kimiMessage(1, own(0), "injection"), kimiMessage(2, "Count the taps", "user")];
      const wire = { agentId: "main", ...readKimiText(claude.joinLines(lines)) };
      return importKimi({ sessionId: "k", wires: [wire], importedAt });
    },
  ],
  [
    "Cline",
    4,
    () => {
      const content = [
        ...["environment_details", "SYSTEM_NOTICE", "explicit_instructions", "hook_context"].map((name, n) =>
          claude.text(own(n, `<${name}>`)),
        ),
        claude.text("<task>\nCount the taps\n</task>"),
      ];
      return importCline({ document: [{ role: "user", content, ts: 1 }], sessionId: "c", importedAt });
    },
  ],
  [
    "OpenCode",
    1,
    () => {
      const reminder = text(own(0, "<system-reminder>"), { synthetic: true });
      const messages = [prompt("q", 1, reminder, "Count the taps"), answer("a", 2, [text("Three.")])];
      return [importOpenCode({ document: makeDocument(messages), importedAt }) ?? []].flat();
    },
  ],
];

test.each(SESSIONS)(
  "keeps texts that %s generates out of contexts and session names",
  (_, texts, sessions) => {
    const [view] = sessions().map(readView);
    if (view === undefined) throw new Error("no session was made");
    expect([view.problems, view.read.issues]).toEqual([[], []]);
    expect(JSON.stringify(convertToLlm(view.messages))).not.toContain("RULES");
    const [first] = view.messages.filter(({ role }) => role === "user");
    expect(JSON.stringify(first)).toContain("Count the taps");
    const kept = view.entries.filter((entry) => JSON.stringify(entry).includes("RULES"));
    expect(kept.map(({ type }) => type)).toEqual(kept.map(() => "custom"));
    const told = kept.flatMap((entry) => getExcerpt(entry, true).text.match(/(?<=RULES )\d/g) ?? []);
    expect(told.toSorted()).toEqual(Array.from({ length: texts }, (_, n) => String(n)));
    const { counts } = view.session;
    expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
  },
);

test("does not restore the program's own texts to the context through a compaction of Codex or Cline", () => {
  const items = [...CODEX_TEXTS, codex.said("developer", own(9)), codex.said("user", "Count the taps")];
  const replacement = items.map(({ payload }) => Object(payload));
  const compacted = codex.compacted("so far", replacement);
  const thread = codex.viewThread([codex.meta(), ...codex.turn("Count the taps"), compacted]);
  expect(JSON.stringify(thread.messages)).not.toContain("RULES");
  expect(JSON.stringify(thread.messages)).toContain("Count the taps");
  const user = { role: "user", content: [claude.text("more"), claude.text(own(0, "<SYSTEM_NOTICE>"))] };
  const summary = { id: "s", role: "user", content: "so far", metadata: { kind: "compaction_summary" } };
  const [cline] = importCline({
    document: { version: 1, agent: "lead", sessionId: "c", messages: [{ ...user, id: "u" }] },
    compaction: { source_message_count: 1, messages: [summary, { ...user, id: "v" }] },
    sessionId: "c",
    importedAt,
  }).map(readView);
  expect(cline?.messages.map(({ role }) => role)).toEqual(["compactionSummary", "user"]);
});

test("keeps Codex's reports of user commands and of subagents in the context", () => {
  const reports = [
    "<user_shell_command>ls</user_shell_command>",
    "<subagent_notification>done</subagent_notification>",
  ];
  const view = codex.viewThread([
    codex.meta(),
    ...codex.turn("go"),
    ...reports.map((one) => codex.said("user", one)),
  ]);
  expect(view.messages.slice(1)).toMatchObject([
    { role: "custom", customType: "codex.user_shell_command", display: true },
    { role: "custom", customType: "codex.subagent_notification", display: true },
  ]);
  expect(view.session.counts.userMessages).toBe(1);
});

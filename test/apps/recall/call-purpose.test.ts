import { expect, test } from "vitest";
import { getPurposes } from "../../../src/apps/recall/call-purpose.ts";

test.each([
  ["npm test", "npm test"],
  ["git add . && npm test", "npm test"],
  ["CI=1 NODE_ENV='a b' npm test", "npm test"],
  ["FOO=$(cat x | head) npm test", "npm test"],
  ["cd packages/shop && npm test", "npm test"],
  ["cd 'my shop'; npm test", "npm test"],
  ["npm test 2>&1 | tail -20", "npm test"],
  ["npm test &> out.log", "npm test"],
  ["npm test > out.log 2>&1 || true", "npm test"],
  ['npm test; echo "exit $?"', "npm test"],
  ["(cd shop && npm test)", "npm test"],
  ["timeout 60 env CI=1 npm test", "npm test"],
  ["bash -lc 'cd shop && CI=1 npm test 2>&1 | tail -5'", "npm test"],
  ["export CI=1\nnpm test", "npm test"],
  ["cat receipts.json | node totals.ts", "node totals.ts"],
  ['git commit -m "a && b | c; d > e"', "git commit"],
  ["cat > a.sh <<'EOF'\nnpm test\nEOF", "cat"],
  ["grep -n totals src | head", "grep -n"],
  ["cd shop", "cd shop"],
  ['say "', 'say "'],
  ["", ""],
])("the last purpose of %j is %j", (command, purpose) => {
  expect(getPurposes({ name: "bash", input: { command } }).at(-1)).toBe(purpose);
});

test("a command line covers all of its commands, in any form", () => {
  const wanted = ["npm ci", "npm test"];
  expect(getPurposes({ name: "Bash", input: { command: "npm ci && npm test" } })).toEqual(wanted);
  const command = ["bash", "-lc", "npm ci; npm test | tail"];
  expect(getPurposes({ name: "shell", input: { command } })).toEqual(wanted);
  expect(getPurposes({ name: "exec", input: { cmd: ["npm", "test"] } })).toEqual(["npm test"]);
  expect(getPurposes({ name: "edit", input: { path: "a.ts" } })).toEqual(["edit\na.ts"]);
});

test("a command of any length is read in time", () => {
  const startedAt = performance.now();
  for (const part of ['"', "'", "\\", "$(", "`", "<<a\n", "A=", "(", "bash -c '"])
    getPurposes({ name: "bash", input: { command: part.repeat(100_000) } });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sessionSchema } from "../../fixtures/support/json-schema.ts";
import { compactReading, makeReading } from "../../fixtures/support/reading.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/", import.meta.url));

const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".jsonl"),
);

const jsonAt = (name: string): unknown => JSON.parse(readFileSync(`${FIXTURES}${name}`, "utf8"));
const asJson = (value: object): unknown => JSON.parse(JSON.stringify(value));

test.each(files)("%s.read.json equals the library's result", (name) => {
  const reading = compactReading(makeReading(`${FIXTURES}${name}`));
  expect(jsonAt(name.replace(/\.jsonl$/, ".read.json"))).toEqual(asJson(reading));
});

test("the JSON Schema equals that of the table of shapes", () => {
  expect(jsonAt("session.schema.json")).toEqual(asJson(sessionSchema()));
});

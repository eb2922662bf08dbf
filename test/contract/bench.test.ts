import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import names from "./public-names.json" with { type: "json" };
import { ROOT } from "./support/repository.ts";

const FROM_BUILD = /import \{([^}]+)\} from "\.\.\/\.\.\/dist\/([a-z]+)\.js"/g;

test("the benchmarks import only existing names of the build", () => {
  const folder = join(ROOT, "test/bench");
  const wanted = readdirSync(folder).flatMap((file) =>
    Array.from(readFileSync(join(folder, file), "utf8").matchAll(FROM_BUILD), ([, list = "", module = ""]) =>
      list.split(",").map((name) => `${module} ${name.replace("type ", "").trim()}`),
    ).flat(),
  );
  expect(wanted.length).toBeGreaterThan(5);
  const exported = Object.entries(names).flatMap(([path, list]) => {
    const module = path.split("/")[1] ?? "index";
    return Object.keys(list).map((name) => `${module} ${name}`);
  });
  expect(wanted.filter((name) => !exported.includes(name))).toEqual([]);
});

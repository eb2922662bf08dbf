// Names of functions and classes in errors and debuggers are those of the exports: run by check-tarball.ts in an empty project.
import assert from "node:assert/strict";

for (const entry of ["", "/catalog", "/controller", "/convert", "/core", "/import", "/stores"])
  for (const [name, value] of Object.entries(await import(`sessiontree${entry}`)))
    if (typeof value === "function") assert.equal(value.name, name);

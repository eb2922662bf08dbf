import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PUBLIC_NAMES_PATH, readPublicNames } from "../contract/support/public-names.ts";
import { ROOT } from "../contract/support/repository.ts";

writeFileSync(join(ROOT, PUBLIC_NAMES_PATH), `${JSON.stringify(readPublicNames(), null, 2)}\n`);
console.log(
  `${PUBLIC_NAMES_PATH} says what the package exports. Look at the difference before you commit it.`,
);

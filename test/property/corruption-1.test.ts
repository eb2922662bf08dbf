import { scaleCount } from "../support/share.ts";
import { testCorruption } from "./support/corruption-test.ts";

// In two files, so that they run in parallel.
testCorruption(1, scaleCount(5_000));

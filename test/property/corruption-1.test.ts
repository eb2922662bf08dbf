import { scaleCount } from "../support/share.ts";
import { testCorruption } from "./support/corruption-test.ts";

// In two files, so that they run beside each other.
testCorruption(1, scaleCount(5_000));

import fc from "fast-check";

/**
 * The seed of every property test, so that two runs of the tests try the same cases. `FAST_CHECK_SEED=random` tries
 * others, and a number those of that seed; what fails prints its own.
 */
const asked = process.env["FAST_CHECK_SEED"];

if (asked !== "random")
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(asked ?? 20_260_203) });

export default fc;

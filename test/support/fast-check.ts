import * as fc from "./sampled-fast-check.ts";

/** fast-check with the seed of this run, and its share of the cases. */
export default fc;

import * as fc from "./sampled-fast-check.ts";

/** fast-check with this run's seed and share of the cases. */
export default fc;

import { z } from "zod";

/** Schema of `SessionHeader`. */
export const sessionHeaderSchema = z.looseObject({
  type: z.literal("session"),
  version: z.number().exactOptional(),
  id: z.string(),
  timestamp: z.string(),
  cwd: z.string(),
  parentSession: z.string().exactOptional(),
  branchedFrom: z.string().exactOptional(),
  provider: z.string().exactOptional(),
  modelId: z.string().exactOptional(),
  thinkingLevel: z.string().exactOptional(),
  title: z.string().exactOptional(),
  leafId: z.string().exactOptional(),
});

import { describe, expect, it } from "vitest";
import { readHeaderSettings } from "../../../src/core/context/path-settings.ts";

describe("readHeaderSettings", () => {
  it("returns the settings that some headers hold", () => {
    expect(readHeaderSettings({ provider: "p", modelId: "m", thinkingLevel: "high" })).toEqual({
      thinkingLevel: "high",
      model: { provider: "p", modelId: "m" },
    });
  });

  it("returns no incomplete model and no value that is not a string", () => {
    for (const header of [
      undefined,
      {},
      { provider: "p" },
      { modelId: "m" },
      { provider: 1, modelId: "m", thinkingLevel: 2 },
    ]) {
      expect(readHeaderSettings(header)).toEqual({ thinkingLevel: undefined, model: undefined });
    }
  });
});

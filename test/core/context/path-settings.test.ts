import { describe, expect, it } from "vitest";
import { readHeaderSettings } from "../../../src/core/context/path-settings.ts";

describe("readHeaderSettings", () => {
  it("gives the settings that some headers carry", () => {
    expect(readHeaderSettings({ provider: "p", modelId: "m", thinkingLevel: "high" })).toEqual({
      thinkingLevel: "high",
      model: { provider: "p", modelId: "m" },
    });
  });

  it("gives no model by halves, and nothing that is no text", () => {
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

import { describe, expect, it } from "vitest";
import { headerSettings } from "../../../src/core/context/path-settings.ts";

describe("headerSettings", () => {
  it("gives the settings that some headers carry", () => {
    expect(headerSettings({ provider: "p", modelId: "m", thinkingLevel: "high" })).toEqual({
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
      expect(headerSettings(header)).toEqual({ thinkingLevel: undefined, model: undefined });
    }
  });
});

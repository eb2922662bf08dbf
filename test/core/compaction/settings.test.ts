import { describe, expect, it } from "vitest";
import { DEFAULT_COMPACTION_SETTINGS, settingsForModel } from "../../../src/core/compaction/settings.ts";

describe("DEFAULT_COMPACTION_SETTINGS", () => {
  it("reserves 16,384 tokens, keeps 20,000, and is enabled", () => {
    expect(DEFAULT_COMPACTION_SETTINGS).toEqual({
      enabled: true,
      reserveTokens: 16384,
      keepRecentTokens: 20000,
    });
  });

  it("is frozen", () => {
    expect(Object.isFrozen(DEFAULT_COMPACTION_SETTINGS)).toBe(true);
  });
});

describe("settingsForModel", () => {
  const settings = {
    ...DEFAULT_COMPACTION_SETTINGS,
    models: { "local/small": { keepRecentTokens: 500 }, "local/other": { enabled: false } },
  };

  it("overrides the settings of the model and keeps the others", () => {
    expect(settingsForModel(settings, { provider: "local", modelId: "small" })).toEqual({
      enabled: true,
      reserveTokens: 16384,
      keepRecentTokens: 500,
    });
    expect(settingsForModel(settings, { provider: "local", modelId: "other" }).enabled).toBe(false);
  });

  it("returns the general settings for a model without overrides, and without a model", () => {
    expect(settingsForModel(settings, { provider: "far", modelId: "small" })).toEqual(
      DEFAULT_COMPACTION_SETTINGS,
    );
    expect(settingsForModel(settings, null)).toEqual(DEFAULT_COMPACTION_SETTINGS);
  });

  it("returns the same object if there are no overrides", () => {
    expect(settingsForModel(DEFAULT_COMPACTION_SETTINGS, null)).toBe(DEFAULT_COMPACTION_SETTINGS);
  });

  it("finds no overrides under names of Object.prototype", () => {
    const inherited = Object.create({ "local/small": { keepRecentTokens: 1 } });
    const given = settingsForModel(
      { ...settings, models: inherited },
      { provider: "local", modelId: "small" },
    );
    expect(given.keepRecentTokens).toBe(20000);
  });
});

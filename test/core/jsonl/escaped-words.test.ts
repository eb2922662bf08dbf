import { expect, test } from "vitest";
import { getHexValue } from "../../../src/core/jsonl/escaped-words.ts";

test("four hexadecimal digits have the value that they write, and other bytes have none", () => {
  const value = (text: string) => getHexValue(Buffer.from(text, "latin1").readInt32BE());
  for (let n = 0; n <= 0xffff; n++) expect(value(n.toString(16).padStart(4, "0"))).toBe(n);
  for (let byte = 0; byte < 256; byte++) {
    const character = String.fromCharCode(byte);
    if (/[0-9a-f]/.test(character)) continue;
    for (let at = 0; at < 4; at++)
      expect(value("0a9f".slice(0, at) + character + "0a9f".slice(at + 1))).toBe(-1);
  }
});

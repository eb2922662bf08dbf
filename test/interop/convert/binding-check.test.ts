import { describe, expect, it } from "vitest";
import { BindingCheck } from "../../support/thinking-binding/binding-check.ts";
import { BINDING_VECTORS, type BindingVector } from "../../support/thinking-binding/vectors.ts";

/** Inserts signatures that were made for a request. */
function filled(value: unknown, signatures: readonly string[]): unknown {
  const json = JSON.stringify(value);
  return JSON.parse(json.replace(/\$(\d)/g, (_, number) => signatures[Number(number)] ?? ""));
}

function verdictsOf({ answered, asked, account }: BindingVector): string[] {
  const api = new BindingCheck();
  const signatures: string[] = [];
  for (const request of answered) {
    const thought = { type: "thinking", thinking: "", signature: "" };
    const [block] = api.sign(filled(request, signatures), request.model, [thought]);
    signatures.push(String(block && "signature" in block && block.signature));
  }
  const asking = account === undefined ? api : new BindingCheck(account);
  return asking.check(filled(asked, signatures), asked.model).map(({ reason }) => reason ?? "valid");
}

describe("the fake binding check", () => {
  it.each(BINDING_VECTORS)("follows the published facts: $name", (vector) => {
    expect(verdictsOf(vector)).toEqual(vector.verdicts);
  });

  it("continues from what a compaction block replaces", () => {
    const api = new BindingCheck();
    const model = "claude-opus-5-5";
    const ask = (messages: object[]) => ({ system: "s", messages });
    const [u1, u2, u3] = ["u1", "u2", "u3"].map((content) => ({ role: "user", content }));
    const thought = { type: "thinking", thinking: "", signature: "" };
    const [t1] = api.sign(ask([{ ...u1 }]), model, [thought]);
    const a1 = { role: "assistant", content: [t1, { type: "text", text: "a1" }] };
    const [t2] = api.sign(ask([{ ...u1 }, a1, { ...u2 }]), model, [thought]);
    const a2 = { role: "assistant", content: [t2, { type: "text", text: "a2" }] };
    const block = api.compact(ask([{ ...u1 }, a1]), "Notes.");
    const front = { role: "assistant", content: [block] };
    expect(api.refusal(ask([front, { ...u2 }, a2, { ...u3 }]), model)).toBeUndefined();
    expect(api.refusal(ask([front, { ...u3 }, a2, { ...u3 }]), model)).toMatch(
      "bound to a different conversation",
    );
  });
});

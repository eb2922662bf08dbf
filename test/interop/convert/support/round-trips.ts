import { expect } from "vitest";
import type { AgentMessage } from "../../../../src/core/format/message.ts";
import type { ConversionIssue } from "../../../../src/interop/convert/conversion-issue.ts";
import type {
  MessageImportOptions,
  RequestOptions,
} from "../../../../src/interop/convert/conversion-options.ts";
import type { ConvertedMessages } from "../../../../src/interop/convert/message-history.ts";
import fc from "../../../support/fast-check.ts";
import { scaleCount } from "../../../support/share.ts";
import { hostile, type Sayable, sayable } from "./conversations.ts";

/** Converters of a form, both ways, and the rules of its requests. */
export interface RoundTrip<Request, Options extends RequestOptions = RequestOptions> {
  readonly identity: Sayable["identity"];
  readonly to: (
    messages: readonly AgentMessage[],
    options: Options & RequestOptions,
  ) => { readonly request: Request; readonly issues: readonly ConversionIssue[] };
  readonly from: (request: Request, options: MessageImportOptions) => ConvertedMessages;
  /** Lists what the provider would refuse in a request that is not empty. */
  readonly check: (request: Request, options: Options & RequestOptions) => readonly unknown[];
  /** Options for making requests. */
  readonly options: fc.Arbitrary<Options>;
}

/** Checks that what a form can express is restored unchanged, without an issue. */
export function checkSaid<Request, Options extends RequestOptions>(
  { to, from, check, options, identity: { model } }: RoundTrip<Request, Options>,
  form: Sayable,
  cases = 300,
): void {
  fc.assert(
    fc.property(sayable(form), options, (messages, one) => {
      const { request, issues } = to(messages, one);
      expect(issues).toEqual([]);
      expect(check(request, one)).toEqual([]);
      expect(from(request, { timestamp: 0, model })).toEqual({ messages, issues: [] });
    }),
    { numRuns: scaleCount(cases) },
  );
}

/** Checks that any conversation becomes a valid request and is not modified. */
export function checkHostile<Request, Options extends RequestOptions>({
  to,
  check,
  options,
  identity,
}: RoundTrip<Request, Options>): void {
  fc.assert(
    fc.property(hostile(identity), fc.boolean(), options, (messages, dropThinking, one) => {
      const before = structuredClone(messages);
      const { request, issues } = to(messages, { ...one, dropThinking });
      expect(messages).toEqual(before);
      expect(issues.every(({ index }) => index >= -1 && index < messages.length)).toBe(true);
      expect(check(request, one)).toEqual([]);
    }),
    { numRuns: scaleCount(1000) },
  );
}

/** Checks that what was read from a request becomes the same request again. */
export function checkRepeated<Request, Options extends RequestOptions>(
  { to, from, options, identity }: RoundTrip<Request, Options>,
  cases = 500,
): void {
  const { model, provider } = identity;
  fc.assert(
    fc.property(hostile(identity), options, (messages, one) => {
      const { request } = to(messages, { ...one, model, provider });
      const read = from(request, { timestamp: 0, ...identity }).messages;
      expect(to(read, { ...one, model, provider }).request).toEqual(request);
    }),
    { numRuns: scaleCount(cases) },
  );
}

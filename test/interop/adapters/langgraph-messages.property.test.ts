import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { type Checkpoint, emptyCheckpoint, JsonPlusSerializer } from "@langchain/langgraph-checkpoint";
import { SessionTreeSaver } from "sessiontree/langgraph";
import { memoryStore } from "sessiontree/stores";
import { expect, test } from "vitest";
import fc from "../../support/fast-check.ts";

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;
/** Views a message as a record so that a test can set any property, as JavaScript can. */
const open = (message: object): Fields => (isFields(message) ? message : {});

/** Returns an object in a message, creating it if absent. */
function getPart(message: BaseMessage, name: string): Fields {
  const fields = open(message);
  const part = fields[name];
  if (isFields(part)) return part;
  const made: Fields = {};
  fields[name] = made;
  return made;
}

function push(message: BaseMessage, name: string, value: unknown): void {
  const list = open(message)[name];
  if (Array.isArray(list)) list.push(value);
  else open(message)[name] = [value];
}

function hide(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: false, configurable: true, writable: true });
}

/** In-place changes that a program may make to a message. */
const CHANGES: Readonly<Record<string, (message: BaseMessage, n: number) => void>> = {
  content: (message, n) => (message.content = `Content ${n}`),
  blocks: (message, n) => (message.content = [{ type: "text", text: `Block ${n}` }]),
  block: (message, n) => push(message, "content", { type: "text", text: `Block ${n}` }),
  "text of a block": (message, n) => {
    const [block] = Array.isArray(message.content) ? message.content : [];
    if (block !== undefined) Object.assign(block, { text: `Other ${n}` });
  },
  "no content": (message) => (message.content = ""),
  id: (message, n) => (message.id = `id-${n}`),
  "id and what it was made of": (message, n) => message._updateId(`id-${n}`),
  name: (message, n) => (message.name = `name-${n}`),
  "added kwarg": (message, n) => (getPart(message, "additional_kwargs")[`k${n % 3}`] = { n: [n] }),
  "changed kwarg": (message, n) => {
    const { k0 } = getPart(message, "additional_kwargs");
    if (isFields(k0)) k0["n"] = n % 4;
  },
  "removed kwarg": (message) => delete getPart(message, "additional_kwargs")["k0"],
  "undefined kwarg": (message) => (getPart(message, "additional_kwargs")["k0"] = undefined),
  "hidden kwarg": (message, n) => hide(getPart(message, "additional_kwargs"), "k0", n),
  "order of kwargs": (message) => {
    const kwargs = getPart(message, "additional_kwargs");
    const { k0, ...rest } = kwargs;
    message.additional_kwargs = { ...rest, k0 };
  },
  "kwargs as bytes": (message, n) =>
    (getPart(message, "additional_kwargs")["bytes"] = new Uint8Array([n % 256])),
  "changed bytes": (message, n) => {
    const { bytes } = getPart(message, "additional_kwargs");
    if (bytes instanceof Uint8Array) bytes[0] = n % 256;
  },
  "kwarg with toJSON": (message, n) => {
    const { k1 } = getPart(message, "additional_kwargs");
    if (isFields(k1)) hide(k1, "toJSON", () => `JSON ${n}`);
  },
  "kwarg with another prototype": (message, n) => {
    const { k1 } = getPart(message, "additional_kwargs");
    if (isFields(k1)) Object.setPrototypeOf(k1, { toJSON: () => `prototype ${n}` });
  },
  "own __proto__": (message, n) => {
    const parsed: unknown = JSON.parse(`{"__proto__": {"n": ${n}}}`);
    getPart(message, "additional_kwargs")["k2"] = parsed;
  },
  map: (message, n) => (getPart(message, "additional_kwargs")["map"] = new Map([["n", n]])),
  "changed map": (message, n) => {
    const { map } = getPart(message, "additional_kwargs");
    if (map instanceof Map) map.set("n", n);
  },
  metadata: (message, n) => (getPart(message, "response_metadata")["n"] = n),
  "nested metadata": (message, n) => {
    const { usage = {} } = getPart(message, "response_metadata");
    getPart(message, "response_metadata")["usage"] = isFields(usage) ? Object.assign(usage, { n }) : usage;
  },
  "tool call": (message, n) => push(message, "tool_calls", { id: `c${n}`, name: "read", args: { n } }),
  "arguments of a call": (message, n) => {
    const calls = open(message)["tool_calls"];
    if (Array.isArray(calls) && calls.length > 0) calls[0].args.n = n;
  },
  "calls replaced": (message, n) =>
    (open(message)["tool_calls"] = [{ id: `c${n}`, name: "write", args: {} }]),
  "no calls": (message) => (open(message)["tool_calls"] = []),
  usage: (message, n) => (getPart(message, "usage_metadata")["input_tokens"] = n),
  "made of": (message, n) => (getPart(message, "lc_kwargs")[`extra${n % 2}`] = n),
  "hidden own field": (message, n) => {
    getPart(message, "lc_kwargs")["hidden"] = 0;
    hide(message, "hidden", n);
  },
  "hidden content": (message, n) => hide(message, "content", `Hidden ${n}`),
  getter: (message, n) => {
    const accessors = { get: () => `Got ${n}`, set: () => undefined };
    Object.defineProperty(message, "content", { ...accessors, enumerable: true, configurable: true });
  },
  "own toJSON": (message, n) => {
    const { toJSON } = message;
    open(message)["toJSON"] = () => Object.assign(toJSON.call(message), { kwargs: { content: `JSON ${n}` } });
  },
  "hidden toJSON": (message, n) => {
    const { toJSON } = message;
    hide(message, "toJSON", () =>
      Object.assign(toJSON.call(message), { kwargs: { content: `hidden JSON ${n}` } }),
    );
  },
  class: (message) => Object.setPrototypeOf(message, SystemMessage.prototype),
};

/** Changes to a list. */
const LIST_CHANGES: Readonly<Record<string, (list: BaseMessage[], at: number, n: number) => void>> = {
  append: (list, _, n) => list.push(makeMessage(n)),
  insert: (list, at, n) => list.splice(at, 0, makeMessage(n)),
  remove: (list, at) => list.splice(at, 1),
  replace: (list, at, n) => list.splice(at, 1, makeMessage(n)),
  reverse: (list) => list.reverse(),
  repeat: (list, at) => list.push(...list.slice(at, at + 1)),
  share: (list, at) => {
    const [first, other] = [list[0], list[at]];
    if (first !== undefined && other !== undefined) other.additional_kwargs = first.additional_kwargs;
  },
};

function makeMessage(n: number): BaseMessage {
  const id = `m${n}`;
  const kwargs = { additional_kwargs: { k0: { n }, k1: { n } } };
  const tool_calls = [{ id: `c${n}`, name: "read", args: { path: `file ${n}` } }];
  switch (n % 4) {
    case 0:
      return new HumanMessage({ id, content: [{ type: "text", text: `Question ${n}` }], ...kwargs });
    case 1:
      return new AIMessage({ id, content: `Answer ${n}`, tool_calls, ...kwargs });
    case 2:
      return new ToolMessage({ id, content: `Result ${n}`, tool_call_id: `c${n}`, artifact: { n } });
    default:
      return new HumanMessage(`Without an id ${n}`);
  }
}

const step = fc.record({
  change: fc.constantFrom(...Object.keys(CHANGES), ...Object.keys(LIST_CHANGES)),
  at: fc.nat(9),
  /** Whether subsequent changes apply to what the checkpointer returned, as in the next run of a graph. */
  isReloaded: fc.boolean(),
  /** Checkpoint from which a branch starts, if any. */
  back: fc.option(fc.nat(9)),
});

/** LangGraph's serializer and its synchronous result for a value. */
class Serializer extends JsonPlusSerializer {
  spell(value: unknown): unknown {
    return JSON.parse(new TextDecoder().decode(this._dumps(value)));
  }
}
const serializer = new Serializer();

/** Returns the serialized list without empty message fields, which a session does not keep. */
function spell(list: unknown): unknown {
  const spelled = serializer.spell(list);
  if (!Array.isArray(spelled)) return spelled;
  return spelled.map((record: unknown) => {
    const kwargs = isFields(record) ? record["kwargs"] : undefined;
    if (!isFields(record) || !isFields(kwargs)) return record;
    const said = Object.entries(kwargs).filter(([, value]) => !isEmpty(value));
    return { ...record, kwargs: Object.fromEntries(said) };
  });
}

function isEmpty(value: unknown): boolean {
  return isFields(value) && (Object.keys(value).length === 0 || value["type"] === "undefined");
}

const stepMetadata = { source: "loop" as const, step: 1, parents: {} };

/** Writes a list to a thread and returns the new checkpoint's config. */
async function putList(saver: SessionTreeSaver, config: object, n: number, messages: unknown) {
  const checkpoint: Checkpoint = {
    ...emptyCheckpoint(),
    id: `checkpoint-${n}`,
    channel_values: { messages },
    channel_versions: { messages: n },
  };
  return saver.put(config, checkpoint, stepMetadata, { messages: n });
}

const getList = async (saver: SessionTreeSaver, config: object) =>
  (await saver.getTuple(config))?.checkpoint.channel_values["messages"];

test("stores messages as they are when put, so that later in-place changes by the program alter nothing stored", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const store = memoryStore();
      const saver = new SessionTreeSaver(store);
      // With a custom serializer, lists are stored whole in its output format.
      const reference = new SessionTreeSaver(memoryStore(), { serde: new JsonPlusSerializer() });
      const thread: object = { configurable: { thread_id: "t" } };
      const configs: object[] = [];
      let config = thread;
      let list = [0, 1, 2, 3].map(makeMessage);
      for (const [n, { change, at, isReloaded, back }] of steps.entries()) {
        const position = at % Math.max(list.length, 1);
        const message = list[position];
        if (n > 0 && message !== undefined) CHANGES[change]?.(message, n + 10);
        if (n > 0) LIST_CHANGES[change]?.(list, position, n + 10);
        if (back !== null) config = configs[back] ?? config;
        const putting = putList(saver, config, n + 1, list);
        const expected = spell(list);
        await putList(reference, config, n + 1, list);
        config = await putting;
        configs.push(config);
        const got = await getList(saver, config);
        expect(spell(got)).toEqual(spell(await getList(reference, config)));
        expect(spell(list)).toEqual(expected);
        if (isReloaded && Array.isArray(got)) list = got;
      }
      const reopened = new SessionTreeSaver(store);
      for (const one of configs) {
        const wanted = spell(await getList(reference, one));
        expect(spell(await getList(saver, one))).toEqual(wanted);
        expect(spell(await getList(reopened, one))).toEqual(wanted);
      }
    }),
    { numRuns: 1_000 },
  );
});

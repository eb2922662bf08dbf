import { useState } from "preact/hooks";
import { excerptOf } from "../../view/excerpt.ts";
import { count, dollars } from "../../view/words.ts";
import { timeOf } from "../model/format.ts";
import { type CallOrder, type ModelCall, orderCalls } from "../model/usage.ts";
import { usePage } from "./page-context.ts";
import { Segments } from "./segments.tsx";

/** So many calls are listed until somebody asks for all. */
const FIRST = 20;

const ORDERS: readonly (readonly [CallOrder, string])[] = [
  ["cost", "by cost"],
  ["tokens", "by tokens"],
  ["time", "in order"],
];

const COLUMNS = ["Cost", "In", "From cache", "Out", "Time", "Model"];

/** Every call of a model with what it used, to single one out and go to its entry. */
export function CallTable({ calls }: { calls: readonly ModelCall[] }) {
  const [order, setOrder] = useState<CallOrder>("cost");
  const [isWhole, showWhole] = useState(false);
  const shown = orderCalls(calls, order).slice(0, isWhole ? undefined : FIRST);
  return (
    <figure class="chart">
      <figcaption>
        Calls, whole session
        <Segments label="Order of the calls" choices={ORDERS} chosen={order} onChoose={setOrder} />
      </figcaption>
      <div class="table-scroll">
        <table class="model-table call-table">
          <thead>
            <tr>
              {["Entry", ...COLUMNS].map((name) => (
                <th key={name}>{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((call) => (
              <CallRow key={call.ordinal} call={call} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < calls.length && (
        <button type="button" class="link-button" onClick={() => showWhole(true)}>
          Show all {count(calls.length)} calls
        </button>
      )}
    </figure>
  );
}

function CallRow({ call }: { call: ModelCall }) {
  const { session, go } = usePage();
  const { ordinal, model, input, cacheRead, cacheWrite, output, cost } = call;
  const entry = session.entries[ordinal];
  const tokensIn = input + cacheRead + cacheWrite;
  const cells = [
    dollars(cost),
    count(tokensIn),
    count(cacheRead),
    count(output),
    timeOf(entry?.timestamp),
    model,
  ];
  return (
    <tr>
      <th scope="row">
        <button type="button" class="link-button" onClick={() => go({ go: "entry", ordinal })}>
          {excerptOf(entry).text || (entry?.id ?? "")}
        </button>
      </th>
      {cells.map((cell, index) => (
        <td key={COLUMNS[index]} data-name={COLUMNS[index]}>
          {cell}
        </td>
      ))}
    </tr>
  );
}

import { useState } from "preact/hooks";
import { excerptOf } from "../../../core/facts/excerpt.ts";
import { count } from "../../../core/facts/number-text.ts";
import { costText } from "../../../core/facts/spending.ts";
import { tokensIn } from "../../../core/facts/usage.ts";
import { timeOf } from "../model/format.ts";
import { type CallOrder, type ModelCall, orderCalls } from "../model/usage.ts";
import { usePage } from "./page-context.ts";
import { Segments } from "./segments.tsx";
import { type UsageRow, UsageTable } from "./usage-table.tsx";

/** So many calls are listed until the reader asks for all. */
const FIRST = 20;

const ORDERS: readonly (readonly [CallOrder, string])[] = [
  ["cost", "by cost"],
  ["tokens", "by tokens"],
  ["time", "in order"],
];

const COLUMNS = ["Entry", "Cost", "In", "From cache", "Out", "Time", "Model"];

/** Every call of a model with what it used, to single one out and go to its entry. */
export function CallTable({ calls }: { calls: readonly ModelCall[] }) {
  const { session, go } = usePage();
  const [order, setOrder] = useState<CallOrder>("cost");
  const [isWhole, showWhole] = useState(false);
  const shown = orderCalls(calls, order).slice(0, isWhole ? undefined : FIRST);
  const rows = shown.map((call): UsageRow => {
    const { ordinal, model, cacheRead, output } = call;
    const entry = session.entryAt(ordinal);
    const name = (
      <button type="button" class="link-button" onClick={() => go({ go: "entry", ordinal })}>
        {excerptOf(entry).text || (entry?.id ?? "")}
      </button>
    );
    const numbers = [tokensIn(call), cacheRead, output].map(count);
    return { key: ordinal, name, cells: [costText(call), ...numbers, timeOf(entry?.timestamp), model] };
  });
  const orders = <Segments label="Order of the calls" choices={ORDERS} chosen={order} onChoose={setOrder} />;
  return (
    <UsageTable class="call-table" title="Calls, whole session" tools={orders} columns={COLUMNS} rows={rows}>
      {shown.length < calls.length && (
        <button type="button" class="link-button" onClick={() => showWhole(true)}>
          Show all {count(calls.length)} calls
        </button>
      )}
    </UsageTable>
  );
}

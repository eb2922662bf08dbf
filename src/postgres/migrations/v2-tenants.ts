import { type Names, TENANT_SQL } from "../names.ts";
import type { Migration } from "./migration.ts";

/** Hides rows of other tenants from all roles except the owner of the tables. */
export const tenants: Migration = {
  version: 2,
  purpose: "row-level security for tenants",
  up: (names) =>
    tablesOf(names).flatMap((table) => [
      `alter table ${table} enable row level security`,
      `create policy tenant on ${table} using (tenant = ${TENANT_SQL}) with check (tenant = ${TENANT_SQL})`,
    ]),
  down: (names) =>
    tablesOf(names).flatMap((table) => [
      `drop policy tenant on ${table}`,
      `alter table ${table} disable row level security`,
    ]),
};

function tablesOf({ sessions, lines }: Names): string[] {
  return [sessions, lines];
}

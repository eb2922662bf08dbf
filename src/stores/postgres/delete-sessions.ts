import { refuseAborted } from "../../core/format/abort.ts";
import {
  assertKnownOptions,
  DATE,
  makeNumberRule,
  OBJECT,
  type OptionRules,
  SIGNAL,
  TEXT,
} from "../../core/format/options.ts";
import { readNumber, readRequiredText } from "../contract/rows.ts";
import type { PostgresClient } from "./client.ts";
import { Database, withDatabase } from "./database.ts";
import { DEFAULT_SCHEMA, type Names, quoteNames } from "./names.ts";
import { assertTenant } from "./rows.ts";

/** Options for deleting a tenant's sessions. */
export interface DeleteTenantOptions {
  /** Client whose role may delete sessions. */
  readonly client: PostgresClient;
  /** Schema of the tables. Default `sessiontree`. */
  readonly schema?: string;
  readonly tenant: string;
  /** Number of sessions deleted per transaction. Default 1,000. */
  readonly batchSize?: number;
  /** Cancels the deletion with `ABORTED`. Sessions deleted so far remain deleted. */
  readonly signal?: AbortSignal;
}

/** Options for deleting old sessions. */
export interface DeleteSessionsOptions extends Omit<DeleteTenantOptions, "tenant"> {
  /** Deletes sessions without a message since this time. */
  readonly before: Date;
  /** Only sessions of this tenant. Default: all tenants visible to the role. */
  readonly tenant?: string;
}

const BATCH = 1_000;

const TENANT_RULES: OptionRules<DeleteTenantOptions> = {
  client: OBJECT,
  schema: TEXT,
  tenant: TEXT,
  batchSize: makeNumberRule(1, "sessions"),
  signal: SIGNAL,
};

/**
 * Permanently deletes all of a tenant's sessions, in batches.
 *
 * A process that still has one of the sessions open cannot restore it, even after a failover.
 *
 * @returns Number of deleted sessions.
 * @throws {SessionError} `STORE_UNAVAILABLE` if the database refuses the call; `ABORTED`.
 * @throws The client's error if the connection is lost; call it again.
 */
export function deleteTenant(options: DeleteTenantOptions): Promise<number> {
  assertKnownOptions<DeleteTenantOptions>(options, TENANT_RULES);
  const { client, schema = DEFAULT_SCHEMA, tenant } = options;
  assertTenant(tenant);
  const names = quoteNames(schema);
  return withDatabase(new Database(client, { tenant }), schema, async (database) => {
    await database.query(
      `insert into ${names.deletedSessions} (tenant, id, revision) values ($1, '', 0) on conflict do nothing`,
      [tenant],
    );
    const deleted = await deleteInBatches(database, names, options, "s.tenant = $1 and s.is_complete", [
      tenant,
    ]);
    await database.query(`delete from ${names.sessions} s where s.tenant = $1`, [tenant]);
    return deleted;
  });
}

/**
 * Permanently deletes sessions whose latest message is older than the given time, in batches. For sessions without
 * messages, the time of the header is used.
 *
 * @returns Number of deleted sessions.
 * @throws {SessionError} `STORE_UNAVAILABLE` if the database refuses the call; `ABORTED`.
 * @throws The client's error if the connection is lost; call it again.
 * @remarks Cost: O(deleted sessions and their lines), plus an index lookup per tenant.
 */
export function deleteSessionsBefore(options: DeleteSessionsOptions): Promise<number> {
  assertKnownOptions<DeleteSessionsOptions>(options, { ...TENANT_RULES, before: DATE });
  const { client, schema = DEFAULT_SCHEMA, tenant, before } = options;
  const names = quoteNames(schema);
  return withDatabase(new Database(client, { tenant }), schema, async (database) => {
    const tenants = tenant === undefined ? await findTenants(database, names) : [tenant];
    let deleted = 0;
    for (const one of tenants) {
      const which = "s.tenant = $1 and s.is_complete and s.modified_ms < $2";
      deleted += await deleteInBatches(database, names, options, which, [one, before.getTime()]);
    }
    return deleted;
  });
}

async function deleteInBatches(
  database: Database,
  { sessions }: Names,
  { batchSize = BATCH, signal }: Pick<DeleteTenantOptions, "batchSize" | "signal">,
  which: string,
  values: readonly unknown[],
): Promise<number> {
  const count = Math.floor(batchSize);
  const text = `with gone as (
      delete from ${sessions} where key in (
        select s.key from ${sessions} s where ${which} order by s.modified_ms limit ${count}
      ) returning 1
    ) select count(*)::integer as count from gone`;
  for (let deleted = 0; ; ) {
    refuseAborted(signal);
    const [row] = await database.query(text, [...values]);
    const batch = row === undefined ? 0 : readNumber(row, "count");
    deleted += batch;
    if (batch < count) return deleted;
  }
}

/** Finds the tenants that have sessions, with one index lookup per tenant. */
async function findTenants(database: Database, { sessions }: Names): Promise<string[]> {
  const rows = await database.query(`with recursive t as (
      (select s.tenant from ${sessions} s where s.is_complete order by s.tenant limit 1)
      union all
      select (select s.tenant from ${sessions} s where s.is_complete and s.tenant > t.tenant order by s.tenant limit 1)
      from t where t.tenant is not null
    ) select tenant from t where tenant is not null`);
  return rows.map((row) => readRequiredText(row, "tenant"));
}

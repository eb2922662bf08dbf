import { toPlainLine, toPlainText } from "../../../core/facts/plain-text.ts";
import type { Command } from "../command.ts";
import { confirmChange, YES } from "../confirm.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { flag, type Parameter, rare } from "../parameters.ts";
import { asUsage, UsageError } from "../usage-error.ts";

const TO: Parameter<number | undefined> = {
  kind: "option",
  form: "--to <version>",
  description: "a version other than the newest; 0 removes everything, sessions included",
  parse: (given) => {
    if (given === undefined) return undefined;
    if (typeof given === "string" && /^\d{1,9}$/.test(given)) return Number(given);
    throw new UsageError("--to <version> must be a whole number, 0 or more.");
  },
};

const SQL = rare(flag("--sql", "only print the statements, without running them"));

/** `sessiontree db migrate`: creates or changes the tables of a database. */
export const command: Command = {
  details: `Sessions are stored in tables in their own schema, or in a SQLite file, which is created if it is missing. Everything happens in one transaction; you can repeat it, and several processes can run it at once. The role in the address must be allowed to create tables; working with sessions requires fewer privileges. With --to, it asks for confirmation.`,
  parameters: [TO, SQL, YES],
  examples: [
    ["db migrate --store postgres://owner@db.example/agents", "the tables of this release"],
    ["db migrate --store sqlite:sessions.db", "a SQLite file; requires Node 22.13 or better-sqlite3"],
    ["db migrate --store postgres://owner@db.example/agents --to 0 --yes", "no tables, and no sessions"],
    ["db migrate --store postgres://reader@db.example/agents --sql", "for another person to run"],
  ],
  run: async (call) => {
    const { get, io, json, out, stored } = call;
    if (stored === undefined) {
      throw new UsageError("Name the database: add --store and its address, or set SESSIONTREE_STORE.");
    }
    const to = get(TO);
    const { address } = stored;
    if (get(SQL)) {
      for (const statement of await asUsage(() => stored.migrationSql(to))) {
        if (json) out.json(statement);
        // A pipe must receive the exact statements for the database.
        else out.line(io.stdout.isTTY ? toPlainText(statement) : statement);
      }
      return EXIT_CODES.ok;
    }
    if (to !== undefined && !(await confirmChange(call, formatQuestion(to, address))))
      return EXIT_CODES.failed;
    const result = await asUsage(() => stored.migrate(to));
    if (json) out.json({ store: address, ...result });
    else out.line(`${describeMigration(result)} ${toPlainLine(address)}`);
    return EXIT_CODES.ok;
  },
};

function formatQuestion(to: number, address: string): string {
  return to === 0
    ? `All sessions in ${toPlainLine(address)} will be deleted permanently, with their tables.\nDelete them?`
    : `Everything that versions after ${to} added to ${toPlainLine(address)} will be deleted.\nGo back to version ${to}?`;
}

function describeMigration({ from, to }: { readonly from: number; readonly to: number }): string {
  if (from === to) return to === 0 ? "There are no tables in" : `The tables already have version ${to}:`;
  if (to === 0) return "Deleted all tables in";
  return from === 0
    ? `Created the tables of version ${to} in`
    : `Changed tables from version ${from} to ${to} in`;
}

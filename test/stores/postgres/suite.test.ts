import { beforeAll, describe } from "vitest";
import { migrateDatabase } from "../../../src/stores/postgres/migrate.ts";
import { embeddedDatabase } from "./support/embedded.ts";
import { postgresSuite } from "./support/suite.ts";

const database = embeddedDatabase();

beforeAll(() => migrateDatabase({ client: database() }));

describe("with notifications of the database", () => postgresSuite(database, true));

describe("with polling", () => postgresSuite(database, false));

import { beforeAll, describe } from "vitest";
import { migrateDatabase } from "../../../src/stores/postgres/migrate.ts";
import { embeddedDatabase } from "./support/embedded.ts";
import { postgresSuite } from "./support/suite.ts";

const database = embeddedDatabase();

beforeAll(() => migrateDatabase({ client: database() }));

describe("told by the database", () => postgresSuite(database, true));

describe("looking from time to time", () => postgresSuite(database, false));

import { beforeAll, describe } from "vitest";
import { migrateDatabase } from "../../src/stores/postgres/migrate.ts";
import { postgresSuite } from "../stores/postgres/support/suite.ts";
import { cluster } from "./support/cluster.ts";

const place = cluster({ max_connections: "400" });

beforeAll(() => migrateDatabase({ client: place.pool() }));

describe("with notifications of the server", () => postgresSuite(() => place.pool({ max: 3 }), true));

describe("with polling", () => postgresSuite(() => place.pool({ max: 1 }), false));

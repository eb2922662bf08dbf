import { fieldsOf } from "../../core/context/entry-fields.ts";
import { SessionError } from "../../core/format/errors.ts";

/** Loads the package that speaks the protocol, which the host installs. */
export async function loadSdk(): Promise<typeof import("@modelcontextprotocol/server")> {
  return ifInstalled(() => import("@modelcontextprotocol/server"));
}

/** Loads its way over stdin and stdout. */
export async function loadStdio(): Promise<typeof import("@modelcontextprotocol/server/stdio")> {
  return ifInstalled(() => import("@modelcontextprotocol/server/stdio"));
}

async function ifInstalled<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (fieldsOf(error)["code"] !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new SessionError(
      "PACKAGE_MISSING",
      "The package @modelcontextprotocol/server, which speaks MCP, is not installed; npm install @modelcontextprotocol/server, or start it with npx -p sessiontree -p @modelcontextprotocol/server sessiontree mcp.",
      { cause: error },
    );
  }
}

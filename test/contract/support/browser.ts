import { builtinModules } from "node:module";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";

/** Bundle for browsers, and its imports of Node's modules. */
export interface BrowserBundle {
  /** Code of the bundle; its exports become the global variable `bundle`. */
  readonly code: string;
  /** `importer imports node:module`, for each; empty if the bundle can run in a browser. */
  readonly nodeImports: readonly string[];
}

/** Bundles a module with all its imports, as a bundler for browsers does. */
export async function bundleForBrowser(entry: string): Promise<BrowserBundle> {
  const nodeImports: string[] = [];
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    logLevel: "error",
    write: false,
    format: "iife",
    globalName: "bundle",
    platform: "browser",
    target: "es2022",
    plugins: [
      {
        name: "note-node-imports",
        setup({ onResolve }) {
          onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
            if (!path.startsWith("node:") && !builtinModules.includes(path)) return undefined;
            nodeImports.push(`${importer} imports ${path}`);
            return { path, external: true };
          });
        },
      },
    ],
  });
  return { code: outputFiles[0]?.text ?? "", nodeImports };
}

/**
 * Runs a bundle and then a script with only the language and the globals that every browser has.
 *
 * @param bundle - From `bundleForBrowser`.
 * @param script - Expression over `bundle` whose value JSON can hold.
 * @returns That value.
 */
export function runAsInBrowser(bundle: BrowserBundle, script: string): unknown {
  const context = createContext({
    TextEncoder,
    TextDecoder,
    structuredClone,
    AbortController,
    AbortSignal,
    crypto,
  });
  runInContext(bundle.code, context);
  const json: unknown = runInContext(`JSON.stringify(${script})`, context);
  return typeof json === "string" ? JSON.parse(json) : undefined;
}

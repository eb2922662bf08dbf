import { gunzipSync } from "node:zlib";

/** Returns the data in a page. */
export function readData(
  page: string,
  id: "session" | "sessions" = "session",
): { readonly [name: string]: unknown } {
  const [, json = ""] =
    new RegExp(`<script type="application/json" id="${id}">([^<]*)</script>`).exec(page) ?? [];
  return JSON.parse(json) as { readonly [name: string]: unknown };
}

/** Returns the bytes of the session in a page, as read by the page. */
export function readBytes(page: string): Buffer {
  const blocks = page.matchAll(/<script type="application\/gzip">([^<]*)<\/script>/g);
  return Buffer.concat(Array.from(blocks, ([, base64 = ""]) => gunzipSync(Buffer.from(base64, "base64"))));
}

type Crypto = typeof import("node:crypto");

/**
 * Loads Node's crypto module on first use. Loading it takes a tenth of the time needed to import this package, and reading a
 * session does not require it.
 */
export function loadCrypto(): Crypto {
  return process.getBuiltinModule("node:crypto");
}

/** Returns the SHA-256 digest of bytes, or of a string encoded as UTF-8, as 64 hexadecimal digits. */
export function hashSha256(data: string | Uint8Array): string {
  return loadCrypto().createHash("sha256").update(data).digest("hex");
}

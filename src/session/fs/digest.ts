type Crypto = typeof import("node:crypto");

/**
 * Loads Node's cryptography when it is first needed: that takes as long as a tenth of this package's import, and reading
 * a session needs none of it.
 */
export function loadCrypto(): Crypto {
  return process.getBuiltinModule("node:crypto");
}

/** Returns the SHA-256 of a text's UTF-8 or of bytes, as 64 hexadecimal digits. */
export function hashSha256(data: string | Uint8Array): string {
  return loadCrypto().createHash("sha256").update(data).digest("hex");
}

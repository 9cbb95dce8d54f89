import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = "secrets.key";

/**
 * Reads the key in the data folder (mode 0600), or creates it at the first start. A new key is durable before it is
 * used. Throws if the file contains no valid key.
 */
export function loadOrCreateSecretsKey(folder: string, randomBytes: (count: number) => Uint8Array): Uint8Array {
  return readKey(folder) ?? makeKey(folder, join(folder, FILE), randomBytes);
}

/** Whether the data folder contains a key. */
export function holdsSecretsKey(folder: string): boolean {
  return existsSync(join(folder, FILE));
}

function readKey(folder: string): Uint8Array | null {
  if (!holdsSecretsKey(folder)) return null;
  const path = join(folder, FILE);
  const key = parseKey(readFileSync(path, "utf8").trim());
  if (key === null) throw new Error(`${path} does not contain a key of 32 bytes in base64`);
  return key;
}

/** Decodes 32 bytes from base64; null for any other text. */
export function parseKey(text: string): Uint8Array | null {
  return /^[A-Za-z0-9+/]{43}=?$/.test(text) ? Buffer.from(text, "base64") : null;
}

function makeKey(folder: string, path: string, randomBytes: (count: number) => Uint8Array): Uint8Array {
  const made = Buffer.from(randomBytes(32));
  const unfinished = `${path}.new`;
  writeFileSync(unfinished, `${made.toString("base64")}\n`, { mode: 0o600, flush: true });
  renameSync(unfinished, path);
  const directory = openSync(folder, "r");
  fsyncSync(directory);
  closeSync(directory);
  return made;
}

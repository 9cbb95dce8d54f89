import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = "secrets.key";

/**
 * The key kept in the data folder (mode 0600); made there on the first start, durable before it is used. Throws when
 * the file holds no key.
 */
export function keptSecretsKey(folder: string, randomBytes: (count: number) => Uint8Array): Uint8Array {
  const path = join(folder, FILE);
  if (!existsSync(path)) return makeKey(folder, path, randomBytes);
  const text = readFileSync(path, "utf8").trim();
  const key = parseKey(text);
  if (key === null) throw new Error(`${path} does not hold a key of 32 bytes in base64`);
  return key;
}

/** 32 bytes from base64, or null. */
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

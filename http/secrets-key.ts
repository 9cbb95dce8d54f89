import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = "secrets.key";

/** The key kept in the data folder (mode 0600); made there on the first start. Throws when the file holds no key. */
export function keptSecretsKey(folder: string, randomBytes: (count: number) => Uint8Array): Uint8Array {
  const path = join(folder, FILE);
  if (!existsSync(path)) {
    const made = Buffer.from(randomBytes(32));
    writeFileSync(path, `${made.toString("base64")}\n`, { mode: 0o600, flag: "wx", flush: true });
    return made;
  }
  const key = Buffer.from(readFileSync(path, "utf8").trim(), "base64");
  if (key.length !== 32) throw new Error(`${path} does not hold a key of 32 bytes in base64`);
  return key;
}

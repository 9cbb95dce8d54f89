import { existsSync, readFileSync } from "node:fs";

/** Defined by the build of the bundled programs. */
declare const RELEASE: string | undefined;

/**
 * Returns the version of this release. A program that is not bundled reads it from the nearest package manifest above
 * this file; `unknown` if there is none.
 */
export function readRelease(): string {
  if (typeof RELEASE === "string") return RELEASE;
  const isAtTop = (folder: URL): boolean => folder.pathname === "/";
  let folder = new URL("./", import.meta.url);
  while (!existsSync(new URL("package.json", folder)) && !isAtTop(folder)) folder = new URL("../", folder);
  if (!existsSync(new URL("package.json", folder))) return "unknown";
  const text = readFileSync(new URL("package.json", folder), "utf8");
  const { version }: { readonly version: string } = JSON.parse(text);
  return version;
}

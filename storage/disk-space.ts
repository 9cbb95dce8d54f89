import { statfsSync } from "node:fs";

/** Returns the number of bytes that this user can still write on a folder's disk. */
export function getFreeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

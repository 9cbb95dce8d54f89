import { statfsSync } from "node:fs";

/** Bytes that this user may still write on the disk of a folder. */
export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

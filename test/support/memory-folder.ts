import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** A file system in memory that most Linux machines have. */
const IN_MEMORY = "/dev/shm";
/** Bytes that must be free there; all tests together take a tenth of it at most. */
const WANTED_BYTES = 4 * 1024 ** 3;

/**
 * Lets the processes that are started from here put their temporary files into memory, where there is room for them:
 * on a disk, flushing and removing them takes a fifth of the tests' time. Returns what removes the files; without room
 * nothing changes.
 */
export function useMemoryFolder(): () => void {
  if (!hasRoom()) return () => undefined;
  const folder = mkdtempSync(join(IN_MEMORY, "signalbox-tests-"));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= WANTED_BYTES;
  } catch {
    return false;
  }
}

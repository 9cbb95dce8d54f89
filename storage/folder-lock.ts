import { spawnSync } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { StoreError } from "./store.js";

/** The folder's lock file. It is empty and never removed. */
export const LOCK_FILE = "signalbox.lock";
/** Exit code of `flock -n` (util-linux and busybox) if another process holds the lock. */
const LOCKED = 1;
/**
 * Timeout for the program `flock`, in milliseconds. After this time, the service continues as if `flock` were not
 * installed. Only a fault can take this long, because `flock -n` does not wait for the lock.
 */
const FLOCK_TIMEOUT_MS = 10_000;

export interface LockOptions {
  /**
   * Whether to take the file lock, the first lock of {@link lockFolder}. Default: true. Pass false only for a folder
   * that no other container can see.
   */
  readonly locksFile?: boolean;
}

/**
 * Takes the exclusive lock of a folder and returns a function that releases it. Rejects with `in-use` if another
 * process holds the lock.
 *
 * There are two locks. The kernel drops both when the process ends, in any way, so no stale lock remains:
 *
 * 1. A lock on a file in the folder. All processes that share the folder see this lock, also in other containers.
 *    Node has no file locks, so the program `flock` locks a file that this process has open. The lock belongs to the
 *   open file and stays after `flock` ends. Child processes do not inherit the file (close-on-exec), so they never hold
 *    the lock.
 * 2. A listening socket in Linux's abstract namespace, named after the folder's device and inode. All processes in
 *    the network namespace see this socket.
 *
 * If `flock` is missing or the file system has no locks, only the socket protects the folder. In that case, do not
 * share a volume between containers.
 */
export async function lockFolder(folder: string, { locksFile = true }: LockOptions = {}): Promise<() => void> {
  const releaseSocket = await listen(folder);
  try {
    const releaseFile = locksFile ? lockFile(folder) : () => undefined;
    return () => {
      releaseFile();
      releaseSocket();
    };
  } catch (error) {
    releaseSocket();
    throw error;
  }
}

function listen(folder: string): Promise<() => void> {
  const { dev, ino } = statSync(folder);
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(error.code === "EADDRINUSE" ? inUse(folder) : error));
    server.listen({ path: `\0signalbox-store-${dev}-${ino}`, exclusive: true }, () => {
      server.unref();
      resolve(() => server.close());
    });
  });
}

function lockFile(folder: string): () => void {
  const file = openSync(join(folder, LOCK_FILE), "a", 0o600);
  const { status } = spawnSync("flock", ["-n", "-x", "3"], {
    stdio: ["ignore", "ignore", "ignore", file],
    timeout: FLOCK_TIMEOUT_MS,
  });
  if (status === LOCKED) {
    closeSync(file);
    throw inUse(folder);
  }
  return () => closeSync(file);
}

function inUse(folder: string): StoreError {
  return new StoreError("in-use", `another process uses the store in ${folder}: stop it, or use another folder`);
}

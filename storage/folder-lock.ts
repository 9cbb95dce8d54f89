import { spawnSync } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { StoreError } from "./store.js";

/** The file that carries the folder's lock. Empty, and never removed. */
export const LOCK_FILE = "signalbox.lock";
/** Exit code of `flock -n` (of util-linux and busybox) when another process holds the lock. */
const HELD = 1;
/** Time limit for `flock`, after which it counts as missing. With `-n` it never waits for the lock. */
const FLOCK_TIMEOUT_MS = 10_000;

/**
 * Takes the exclusive lock of a folder and returns what releases it. Rejects with `in-use` when another process holds
 * it.
 *
 * There are two locks. The kernel drops both with the process, however that ends, so none is ever left behind:
 *
 * 1. A lock on a file in the folder, visible to everybody who shares the folder, other containers included. Node cannot
 *    take one, so the program `flock` takes it on a file that this process has open: the lock belongs to the open file
 *    and stays when `flock` ends. Child processes do not inherit the file (close-on-exec), so they never hold the lock.
 * 2. A listening socket in Linux's abstract namespace, named after the folder's device and inode, visible to every
 *    process of the network namespace. It alone decides when `flock` is missing or the file system has no locks.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  const releaseSocket = await listen(folder);
  try {
    const releaseFile = lockFile(folder);
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
  if (status === HELD) {
    closeSync(file);
    throw inUse(folder);
  }
  return () => closeSync(file);
}

function inUse(folder: string): StoreError {
  return new StoreError("in-use", `another process serves the store in ${folder}; stop it or name another folder`);
}

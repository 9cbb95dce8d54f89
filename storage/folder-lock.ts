import { spawnSync } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { StoreError } from "./store.js";

/** The file whose lock stands for the folder. It holds nothing, and stays. */
const LOCK_FILE = "signalbox.lock";
/** What `flock -n` (of util-linux and busybox) ends with when another holds the lock. */
const HELD = 1;
/** How long `flock` may take before it counts as missing: it never waits for the lock. */
const FLOCK_TIMEOUT_MS = 10_000;

/**
 * Takes the exclusive lock of a folder and gives what lets it go. Rejects with `in-use` when another holds it.
 *
 * Two locks, which the kernel drops with the process however that ends, so that none is ever left behind:
 *
 * 1. A lock on a file in the folder, seen by whoever shares it, other containers included. Node cannot take one, so the
 *    program `flock` takes it on a file that this process has open: the lock belongs to the open file and stays when
 *    `flock` ends. What this process starts later does not inherit the file (close-on-exec), and so never keeps it.
 * 2. A listening socket in Linux's abstract namespace, named after the folder's device and inode: seen by every process
 *    of one network namespace. It alone decides where `flock` is missing or the file system knows no locks.
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

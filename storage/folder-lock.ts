import { statSync } from "node:fs";
import { createServer } from "node:net";
import { StoreError } from "./store.js";

/**
 * Takes the exclusive lock of a folder and gives what lets it go.
 *
 * The lock is a listening socket in Linux's abstract namespace, named after the folder's device and inode: taking it
 * is atomic, and the kernel drops it with the process however that ends, so that none is ever left behind. It is seen
 * by every process of one network namespace; two containers that share a volume do not see each other.
 * Rejects with `in-use` when another holds it.
 */
export function lockFolder(folder: string): Promise<() => void> {
  const { dev, ino } = statSync(folder);
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "EADDRINUSE"
          ? new StoreError("in-use", `another process serves the store in ${folder}; stop it or name another folder`)
          : error,
      ),
    );
    server.listen({ path: `\0signalbox-store-${dev}-${ino}`, exclusive: true }, () => {
      server.unref();
      resolve(() => server.close());
    });
  });
}

import { appendFileSync, chmodSync, renameSync, statSync } from "node:fs";

/** Size at which the log starts again, in bytes. One earlier file of that size is kept. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Opens a log file that only its owner can read. It keeps at most twice `maxBytes`: a full file becomes `<path>.1`, and
 * replaces the one before.
 */
export function openLogFile(path: string, maxBytes = MAX_BYTES): { write(text: string): void } {
  appendFileSync(path, "", { mode: 0o600 });
  chmodSync(path, 0o600);
  let bytes = statSync(path).size;
  return {
    write: (text) => {
      const more = Buffer.byteLength(text);
      if (bytes > 0 && bytes + more > maxBytes) {
        renameSync(path, `${path}.1`);
        bytes = 0;
      }
      appendFileSync(path, text, { mode: 0o600 });
      bytes += more;
    },
  };
}

import { noteBackup } from "../../process/last-backup.js";
import { openStoreForReading } from "../../process/open-store.js";
import type { CommonOptions, Context } from "../command/context.js";
import { onStore } from "./store-errors.js";

interface BackupOptions extends CommonOptions {
  readonly data: string;
  readonly to: string;
}

/** Copies a store into a folder, even while a service uses it. */
export async function backup(context: Context, { data, to }: BackupOptions): Promise<void> {
  await onStore(async () => {
    const store = await openStoreForReading(data);
    await store.backup(to);
    await store.close();
  });
  noteTime(context, data);
  context.show({ data, to }, () => [
    `copied ${data} to ${to}; without ${data}/secrets.key or SECRETS_KEY nobody can read its secrets: keep the key in another place`,
  ]);
}

/**
 * Records the time of the backup for `signalbox status`. Prints a note if that fails, for example in a write-protected
 * folder.
 */
function noteTime({ terminal }: Context, folder: string): void {
  try {
    noteBackup(folder, Date.now());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    terminal.note(`signalbox status will not know of this backup: ${why}`);
  }
}

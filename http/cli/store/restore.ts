import { restoreBackup } from "../../../storage/backup.js";
import type { CommonOptions, Context } from "../command/context.js";
import { onStore } from "./store-errors.js";

interface RestoreOptions extends CommonOptions {
  readonly from: string;
  readonly data: string;
}

/** Copies a backup into a folder, so that a service can start on it. */
export async function restore(context: Context, { from, data }: RestoreOptions): Promise<void> {
  await onStore(() => restoreBackup({ from, folder: data }));
  context.show({ from, data }, () => [
    `restored ${from} into ${data}; put its secrets.key there too, unless SECRETS_KEY is set`,
  ]);
}

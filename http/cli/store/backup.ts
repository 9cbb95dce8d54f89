import { Command } from "commander";
import { noteBackup } from "../../process/last-backup.js";
import { openStoreForReading } from "../../process/open-store.js";

/** `signalbox backup`: copies a store into a folder, even while a service uses it. */
const program = new Command("signalbox backup")
  .description("Back up a store, also while the service runs.")
  .requiredOption("--data <folder>", "the service's data folder")
  .requiredOption("--to <folder>", "where the copy goes; absent or empty");

/** Notes the time for `signalbox status`. The data folder may be write-protected. */
function noteTime(folder: string): void {
  try {
    noteBackup(folder, Date.now());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.error(`signalbox status will not know of this backup: ${why}`);
  }
}

try {
  const { data, to } = program.parse().opts<{ readonly data: string; readonly to: string }>();
  const store = await openStoreForReading(data);
  await store.backup(to);
  await store.close();
  noteTime(data);
  console.log(`copied ${data} to ${to}; keep ${data}/secrets.key with the copy, unless SECRETS_KEY is set`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

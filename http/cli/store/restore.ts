import { Command } from "commander";
import { restoreBackup } from "../../../storage/backup.js";

/** `signalbox restore`: copies a backup into a folder, so that a service can start on it. */
const program = new Command("signalbox restore")
  .description("Restore a backup into an empty folder, on which a service can start.")
  .requiredOption("--from <folder>", "the backup")
  .requiredOption("--data <folder>", "the data folder to fill; absent or empty");

try {
  const { from, data } = program.parse().opts<{ readonly from: string; readonly data: string }>();
  await restoreBackup({ from, folder: data });
  console.log(`restored ${from} into ${data}; put its secrets.key there too, unless SECRETS_KEY is set`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

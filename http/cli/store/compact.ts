import { Command } from "commander";
import { compactStoppedStore } from "../../process/open-store.js";

/** `signalbox compact`: returns the free space in a stopped service's file to the disk. */
const program = new Command("signalbox compact")
  .description("Shrink a stopped service's store file.")
  .requiredOption("--data <folder>", "the data folder of a service that is stopped");

try {
  const { data } = program.parse().opts<{ readonly data: string }>();
  const { beforeBytes, afterBytes, entries } = await compactStoppedStore(data);
  console.log(`compacted ${data}: ${beforeBytes} bytes before, ${afterBytes} after; all ${entries} entries are intact`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

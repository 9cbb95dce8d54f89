import { Command } from "commander";
import { listAllDeadLetters, retryOffline } from "../../../runtime/messages/offline-dead-letters.js";
import type { DeadLetter } from "../../../runtime/runtime.js";
import { openStoreForReading } from "../../process/open-store.js";
import { openStoppedStore } from "./stopped-store.js";

/**
 * `signalbox dead-letters`: lists the dead letters of every workspace and of the service itself, even while a service
 * uses the store. It can also resend one dead letter if no service has the store open. The next service process
 * delivers it.
 */
const program = new Command("signalbox dead-letters")
  .description("List dead letters, also while the service runs, or retry one.")
  .requiredOption("--data <folder>", "the service's data folder")
  .option("--retry <id>", "retry this one; the service must be stopped");

/** Maximum number of dead letters to list per workspace. */
const LISTED = 1_000;

try {
  const { data, retry } = program.parse().opts<{ readonly data: string; readonly retry?: string }>();
  if (retry === undefined) await list(data);
  else await sendAgain(data, retry);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function list(folder: string): Promise<void> {
  const store = await openStoreForReading(folder);
  const letters = listAllDeadLetters(store.reading, LISTED);
  await store.close();
  for (const letter of letters) console.log(line(letter));
  console.error(letters.length === 1 ? "1 dead letter" : `${letters.length} dead letters`);
}

async function sendAgain(folder: string, id: string): Promise<void> {
  const store = await openStoppedStore(folder);
  const isFound = await retryOffline(store, id);
  await store.close();
  if (!isFound) throw new Error(`no dead letter has the id ${id}`);
  console.log(`${id} will be sent again when the service starts`);
}

/** Formats a dead letter without its content, which may be secret. */
function line({ id, to, message, error, atMs }: DeadLetter): string {
  const [first = ""] = error.split("\n");
  return [new Date(atMs).toISOString(), id, to.partition, `${to.kind}/${to.id}`, message.type, first].join("\t");
}

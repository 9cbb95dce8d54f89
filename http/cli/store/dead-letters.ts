import { listAllDeadLetters, retryOffline } from "../../../runtime/messages/offline-dead-letters.js";
import type { DeadLetter } from "../../../runtime/runtime.js";
import { openStoreForReading } from "../../process/open-store.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { openStoppedStore } from "./stopped-store.js";
import { onStore } from "./store-errors.js";

interface DeadLetterOptions extends CommonOptions {
  readonly data: string;
  /** The id of a dead letter to resend. */
  readonly retry?: string;
}

/** Maximum number of dead letters to list per workspace. */
const LISTED = 1_000;

/**
 * Lists the dead letters of every workspace and of the service itself, even while a service uses the store. With
 * `retry`, resends one dead letter if no service has the store open; the next service process delivers it.
 */
export async function deadLetters(context: Context, { data, retry }: DeadLetterOptions): Promise<void> {
  await onStore(() => (retry === undefined ? list(context, data) : sendAgain(context, data, retry)));
}

async function list(context: Context, folder: string): Promise<void> {
  const store = await openStoreForReading(folder);
  const letters = listAllDeadLetters(store.reading, LISTED).map(describe);
  await store.close();
  context.show({ items: letters }, () =>
    letters.map(({ at, id, workspaceId, to, message, error }) => [at, id, workspaceId, to, message, error].join("\t")),
  );
  if (!context.isJson) context.terminal.note(letters.length === 1 ? "1 dead letter" : `${letters.length} dead letters`);
}

async function sendAgain(context: Context, folder: string, id: string): Promise<void> {
  const store = await openStoppedStore(context.terminal, folder);
  const isFound = await retryOffline(store, id);
  await store.close();
  if (!isFound) throw new CommandError(`no dead letter has the id ${id}`);
  context.show({ id, retried: true }, () => [`${id} will be sent again when the service starts`]);
}

/** Describes a dead letter without its content, which may be secret. `workspaceId` is `~` for the service itself. */
function describe({ id, to, message, error, atMs }: DeadLetter) {
  const [first = ""] = error.split("\n");
  const at = new Date(atMs).toISOString();
  return { at, id, workspaceId: to.partition, to: `${to.kind}/${to.id}`, message: message.type, error: first };
}

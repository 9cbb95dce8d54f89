/**
 * Stores the mark of the key that seals secrets, `sealing-key/secrets` in the global partition. If the service is
 * started with another key, it refuses to start. Otherwise hooks and connections would fail later, because the service
 * could not decrypt their secrets. There is only one state, because a row stores the mark.
 *
 * | state   | moved by    | next    | also                                       |
 * |---------|-------------|---------|--------------------------------------------|
 * | keeping | sealing.use | keeping | stores the mark of the key                 |
 */
import { createChart, type NoContext } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { reference } from "../../runtime/cells/reference.js";
import type { Answered, Delivered } from "../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { Sealer } from "../sealer.js";

/** Stores the mark of the key now in use; see {@link toKeyMark}. */
export interface UseSealingKey extends Answered<null> {
  readonly type: "sealing.use";
  readonly mark: string;
}

const ID = "secrets";
/** Key: `[ID]`. */
export const marks = table<{ readonly mark: string }>("sealing-key");

const sealingKeys = reference<UseSealingKey>("sealing-key");
/** The actor that stores the mark. */
export const sealingKeyRef = sealingKeys(GLOBAL_PARTITION, ID);

/** Returns the mark of the key that the service last used; null if no service was started on this store. */
export function findSealingKeyMark(reading: Reading): string | null {
  return marks.get(reading, GLOBAL_PARTITION, ID)?.mark ?? null;
}

/** Returns a mark that identifies a sealer's key. The mark reveals nothing about the key. */
export function toKeyMark(sealer: Sealer): string {
  return sealer.digest("the key that secrets are sealed with");
}

const { on, machine } = createChart<NoContext, UseSealingKey>();

const sealingKeyMachine = machine({
  id: "sealing-key",
  context: {},
  initial: "keeping",
  states: { keeping: { on: on("sealing.use", recordMark) } },
});

/** See the table above. */
export const sealingKeyActor = defineActor(sealingKeys, { machine: sealingKeyMachine, version: 1 });

function recordMark({ turn, mark }: Delivered<UseSealingKey>): void {
  turn.reply(null);
  if (findSealingKeyMark(turn) !== mark) marks.put(turn, GLOBAL_PARTITION, ID, { mark });
}

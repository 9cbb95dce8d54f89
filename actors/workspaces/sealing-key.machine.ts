/**
 * The mark of the key that seals secrets, `sealing-key/secrets` under the global partition. The service refuses to
 * start with another key, before hooks and connections fail because secrets cannot be opened. There is one state: the
 * mark is in a row.
 *
 * | state   | moved by    | next    | also                                       |
 * |---------|-------------|---------|--------------------------------------------|
 * | keeping | sealing.use | keeping | the mark of the key is stored              |
 */
import { chartOf, type NoContext } from "../../runtime/chart.js";
import { defineActor } from "../../runtime/define-actor.js";
import { reference } from "../../runtime/reference.js";
import type { Answered, Delivered } from "../../runtime/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { Sealer } from "../sealer.js";

/** Announces the key in use from now on, by its {@link toKeyMark}. */
export interface UseSealingKey extends Answered<null> {
  readonly type: "sealing.use";
  readonly mark: string;
}

const ID = "secrets";
/** `[ID]` */
const marks = table<{ readonly mark: string }>("sealing-key");

const sealingKeys = reference<UseSealingKey>("sealing-key");
/** The actor that stores the mark. */
export const sealingKeyRef = sealingKeys(GLOBAL_PARTITION, ID);

/** The mark of the last key in use; null in a store that no service was started on. */
export function findSealingKeyMark(reading: Reading): string | null {
  return marks.get(reading, GLOBAL_PARTITION, ID)?.mark ?? null;
}

/** The mark by which a sealer's key is recognised. It reveals nothing of the key. */
export function toKeyMark(sealer: Sealer): string {
  return sealer.digest("the key that secrets are sealed with");
}

const { on, machine } = chartOf<NoContext, UseSealingKey>();

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

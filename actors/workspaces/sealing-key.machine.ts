/**
 * What the key that secrets are sealed with is told by, `sealing-key/secrets` under the global partition: a start with
 * another key is refused, before hooks and connections fail for what cannot be opened.
 *
 * | state   | moved by    | next    | also                                       |
 * |---------|-------------|---------|--------------------------------------------|
 * | keeping | sealing.use | keeping | what this key is told by is kept           |
 */
import { setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import { reference } from "../../runtime/reference.js";
import type { Answered, Delivered, Turn } from "../../runtime/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import type { Sealer } from "../sealer.js";

/** The key that is used from now on, by its {@link toKeyMark}. */
export interface UseSealingKey extends Answered<null> {
  readonly type: "sealing.use";
  readonly mark: string;
}

const ID = "secrets";
/** `[ID]` */
const marks = table<{ readonly mark: string }>("sealing-key");

const sealingKeys = reference<UseSealingKey>("sealing-key");
/** Who keeps it. */
export const sealingKeyRef = sealingKeys(GLOBAL_PARTITION, ID);

/** What the key that this was last sealed with is told by; null in a store that no service was started over. */
export function findSealingKeyMark(reading: Reading): string | null {
  return marks.get(reading, GLOBAL_PARTITION, ID)?.mark ?? null;
}

/** What a sealer's key is told by. It gives away nothing of the key. */
export function toKeyMark(sealer: Sealer): string {
  return sealer.digest("the key that secrets are sealed with");
}

const machine = setup({
  types: { context: {} as Record<string, never>, events: {} as Delivered<UseSealingKey> },
}).createMachine({
  id: "sealing-key",
  context: {},
  initial: "keeping",
  states: {
    keeping: {
      on: { "sealing.use": { target: "keeping", actions: ({ event }) => recordMark(event.turn, event.mark) } },
    },
  },
});

/** See the table above. */
export const sealingKeyActor = defineActor(sealingKeys, { machine, version: 1 });

function recordMark(turn: Turn, mark: string): void {
  turn.reply(null);
  if (findSealingKeyMark(turn) !== mark) marks.put(turn, GLOBAL_PARTITION, ID, { mark });
}

/**
 * Stores the previous signing secret of a hook after a rotation, `hook-rotation/<hook id>`. For some hours the service
 * signs requests with both secrets, so that receivers with the previous secret continue to work. Then the actor removes
 * the previous secret.
 *
 * | state   | moved by                               | next    | also                                            |
 * |---------|----------------------------------------|---------|-------------------------------------------------|
 * | none    | rotation.begun                         | keeping | wake-up when the secret expires                 |
 * | keeping | rotation.begun                         | keeping | moves the wake-up to the new expiry             |
 * | keeping | woken                                  | none    | removes the secret; stops                       |
 * | any     | rotation.over, the hook was deleted    | none    | removes the secret; stops                       |
 */
import type { Subscriber } from "../../../runtime/cells/actor-type.js";
import { createChart, type NoContext } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import { reference } from "../../../runtime/cells/reference.js";
import type { Delivered, Message, Woken } from "../../../runtime/turns/turn.js";
import type { Reading, Writing } from "../../../storage/store.js";
import { table } from "../../../storage/table.js";
import type { ResourceChanged } from "../../resources/resource.messages.js";
import { findResource, type ResourceRow } from "../../resources/resource.table.js";
import type { HookFields } from "../hook.js";

/** The hidden field with the sealed signing secret. */
export const SIGNING_SECRET = "signing.secret";

interface RotationStarted extends Message {
  readonly type: "rotation.begun";
  readonly untilMs: number;
}
interface RotationOver extends Message {
  readonly type: "rotation.over";
}

const hookRotationRef = reference<RotationStarted | RotationOver>("hook-rotation");

interface PreviousSecret {
  readonly sealed: string;
  /** When the secret is removed, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** Key: `[hook]`. */
export const previousSecrets = table<PreviousSecret>("hook-previous-secret");

/** Returns the hook's previous secret, sealed, while requests must also be signed with this secret; otherwise null. */
export function findPreviousSecret(
  reading: Reading,
  { workspaceId, id }: Pick<ResourceRow, "workspaceId" | "id">,
  nowMs: number,
): string | null {
  const previous = previousSecrets.get(reading, workspaceId, id);
  return previous !== undefined && previous.untilMs > nowMs ? previous.sealed : null;
}

/**
 * Stores the secret that an update replaces, with its expiry `untilMs`. Does nothing if the update does not replace a
 * secret with another one.
 */
export function storePreviousSecret(
  writing: Writing,
  row: ResourceRow<HookFields>,
  before: ResourceRow<HookFields>,
  untilMs: number,
): void {
  const sealed = before.hidden[SIGNING_SECRET];
  if (sealed === undefined || row.hidden[SIGNING_SECRET] === undefined) return;
  if (row.fields.signing?.secretVersion === before.fields.signing?.secretVersion) return;
  previousSecrets.put(writing, row.workspaceId, row.id, { sealed, untilMs });
}

/**
 * After each change of a hook, sends the expiry of its previous secret to the rotation actor. After a deletion of the
 * hook, the actor removes the secret at once.
 */
export const secretRotationSubscriber: Subscriber<ResourceChanged<"hook">> = {
  name: "secrets of hooks go after their rotation",
  facts: ["hook.changed"],
  handle({ id }, turn) {
    const previous = previousSecrets.get(turn, turn.self.partition, id);
    if (previous === undefined) return;
    const isGone = findResource(turn, turn.self.partition, "hook", id) === undefined;
    const message: RotationStarted | RotationOver = isGone
      ? { type: "rotation.over" }
      : { type: "rotation.begun", untilMs: previous.untilMs };
    turn.send(hookRotationRef(turn.self.partition, id), message);
  },
};

const { on, machine } = createChart<NoContext, RotationStarted | RotationOver | Woken>();

const always = {
  ...on("rotation.begun", "keeping", ({ turn, untilMs }) => turn.wake("over", untilMs)),
  ...on("rotation.over", "none", forget),
};

const hookRotationMachine = machine({
  id: "hook-rotation",
  context: {},
  initial: "none",
  states: {
    none: { on: always },
    keeping: { on: { ...always, ...on("woken", "none", forget) } },
  },
});

/** The actor that removes a hook's previous signing secret. The file's header has its transitions. */
export const hookRotationActor = defineActor(hookRotationRef, { machine: hookRotationMachine, version: 1 });

function forget({ turn }: Delivered<RotationOver | Woken>): void {
  previousSecrets.remove(turn, turn.self.partition, turn.self.id);
  turn.stop();
}

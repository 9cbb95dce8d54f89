/**
 * The connection of one installation of the code host to a workspace, `code-host-connection/<installation>@<host>` in
 * the workspace's partition (configuration API, Code-host connection).
 *
 * | state     | moved by                                             | next      | also                            |
 * |-----------|------------------------------------------------------|-----------|---------------------------------|
 * | any       | confirmation.begun (installation.confirm)            | same      | asks the code host              |
 * | any       | confirmation.crowded (the same, too many at once)    | same      | refused                         |
 * | any       | claim.needed (effect.ended, may connect, and the     | same      | claims it for the workspace     |
 * |           | workspace does not have it yet)                      |           |                                 |
 * | any       | confirmed.connected (the same if it has it already,  | connected | connects it; reports that       |
 * |           | or name.claimed, granted)                            |           |                                 |
 * | any       | confirmed.suspended (the same, suspended there)      | suspended | the same                        |
 * | any       | confirmation.refused (effect.ended otherwise, or     | same      | reports why not                 |
 * |           | name.claimed, denied)                                |           |                                 |
 * | any       | claim.unused (granted, but may no longer connect)    | same      | reports why; releases it        |
 * | any       | claim.void (answer to an outdated claim)             | same      |                                 |
 * | any       | claim.kept (name.ask, if the workspace has it)       | same      | confirms the claim              |
 * | any       | claim.lapsed (the same, if it does not)              | same      | lets the claim lapse            |
 * | any       | changed.connected, .suspended, .deleted              | reported  | answers; releases a deleted one |
 * |           | (installation.changed, or effect.ended of a check,   |           |                                 |
 * |           | if the workspace has it)                             |           |                                 |
 * | any       | changed.nothing (the same, known or older)           | same      | answers                         |
 * | connected,| woken `look`                                         | same      | asks the code host for its      |
 * | suspended |                                                      |           | status; again in six hours      |
 * | any other | the same                                             | same      |                                 |
 * | any       | disconnect.allowed (installation.disconnect, by an   | absent    | releases and removes it         |
 * |           | owner or admin, if there is a connection)            |           |                                 |
 * | any       | disconnect.refused (the same, any other)             | same      | refused                         |
 * | any       | installation.release                                 | absent    | releases and removes it         |
 *
 * A code host does not resend a missed delivery, so the connection checks the installation regularly.
 *
 * "May connect" means that the user is still an owner or admin, and the workspace is open and below its connection
 * limit. The turn that connects checks this. The claims actor ensures that no other workspace has the installation.
 */
import { createChart, type InTurn } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import type { Turn } from "../../runtime/turns/turn.js";
import { answerRefusal } from "../refusal.js";
import { classifyConnection } from "./classify-connection.js";
import { codeHostConnectionRef } from "./connection.messages.js";
import {
  applyChange,
  type CodeHostConnectionContext,
  claim,
  confirmClaim,
  connect,
  disconnect,
  lapseClaim,
  publishRefusal,
  publishUnused,
  startConfirmation,
  startInstallationCheck,
} from "./connection.transitions.js";
import { parseActorId } from "./installation.js";

const { on, machine } = createChart<CodeHostConnectionContext, ReturnType<typeof classifyConnection>>();

const connectionMachine = machine({
  id: "code-host-connection",
  context: ({ input }) => ({ ...parseActorId(input.id), connection: null, attempts: [] }),
  initial: "absent",
  on: {
    ...on("confirmation.begun", startConfirmation),
    ...on("confirmation.crowded", answerRefusal),
    ...on("confirmed.connected", ".connected", connect),
    ...on("confirmed.suspended", ".suspended", connect),
    ...on("confirmation.refused", publishRefusal, stopWhenDone),
    ...on("claim.needed", claim),
    ...on("claim.unused", publishUnused, stopWhenDone),
    ...on("claim.void", stopWhenDone),
    ...on("claim.kept", confirmClaim),
    ...on("claim.lapsed", lapseClaim, stopWhenDone),
    ...on("changed.connected", ".connected", answerChange, applyChange),
    ...on("changed.suspended", ".suspended", answerChange, applyChange),
    ...on("changed.deleted", ".deleted", answerChange, applyChange),
    ...on("changed.nothing", answerChange, stopWhenDone),
    ...on("disconnect.allowed", ".absent", disconnect, stopWhenDone),
    ...on("disconnect.refused", answerRefusal, stopWhenDone),
    ...on("installation.release", ".absent", disconnect, stopWhenDone),
  },
  states: {
    absent: { on: on("woken") },
    connected: { on: on("woken", startInstallationCheck) },
    suspended: { on: on("woken", startInstallationCheck) },
    deleted: { on: on("woken") },
  },
});

/** Replies to the sender whether its message changed anything. The result of a check has no sender. */
function answerChange(
  event:
    | { readonly type: string; readonly isTold: true; readonly turn: Turn<boolean> }
    | { readonly type: string; readonly isTold: false },
): void {
  if (event.isTold) event.turn.reply(event.type !== "changed.nothing");
}

function stopWhenDone({ turn }: InTurn, { connection, attempts }: CodeHostConnectionContext): void {
  if (connection === null && attempts.length === 0) turn.stop();
}

/** See the table above. */
export const codeHostConnectionActor = defineActor(codeHostConnectionRef, {
  machine: connectionMachine,
  classify: classifyConnection,
  version: 1,
});

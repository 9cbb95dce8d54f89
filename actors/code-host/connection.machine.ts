/**
 * The connection of one installation of the code host to a workspace, `code-host-connection/<installation>@<host>` in
 * the workspace's partition (see "Code-host connection" in the configuration API document).
 *
 * | state      | event, and its message                                    | next      | also                     |
 * |------------|-----------------------------------------------------------|-----------|--------------------------|
 * | any        | confirmation.begun (installation.confirm)                 | same      | asks the code host       |
 * | any        | confirmation.crowded (installation.confirm, if too many   | same      | refuses                  |
 * |            | confirmations are in progress)                            |           |                          |
 * | any        | claim.needed (effect.ended, if the user may connect and   | same      | claims it                |
 * |            | the workspace does not have the installation)             |           |                          |
 * | any        | confirmed.connected (effect.ended, if the user may        | connected | stores and publishes the |
 * |            | connect and the workspace has the installation;           |           | connection               |
 * |            | name.claimed, if granted)                                 |           |                          |
 * | any        | confirmed.suspended (like confirmed.connected, for an     | suspended | stores and publishes the |
 * |            | installation that is suspended at the code host)          |           | connection               |
 * | any        | confirmation.refused (effect.ended, otherwise;            | same      | publishes the reason     |
 * |            | name.claimed, if denied)                                  |           |                          |
 * | any        | claim.unused (name.claimed, if granted but the user may   | same      | publishes the reason;    |
 * |            | not connect now)                                          |           | releases it if unneeded  |
 * | any        | claim.void (name.claimed, for an outdated claim)          | same      |                          |
 * | any        | claim.kept (name.ask, if the workspace has it)            | same      | confirms the claim       |
 * | any        | claim.lapsed (name.ask, if the workspace does not have    | same      | lets the claim lapse     |
 * |            | it)                                                       |           |                          |
 * | any        | changed.connected, changed.suspended, changed.deleted     | as        | replies; releases a      |
 * |            | (installation.changed or effect.ended of a check, if it   | reported  | deleted installation     |
 * |            | has news)                                                 |           |                          |
 * | any        | changed.nothing (installation.changed or effect.ended of  | same      | replies                  |
 * |            | a check, without news)                                    |           |                          |
 * | connected, | woken `look`                                              | same      | checks it at the code    |
 * | suspended  |                                                           |           | host every six hours     |
 * | absent,    | woken `look`                                              | same      |                          |
 * | deleted    |                                                           |           |                          |
 * | any        | disconnect.allowed (installation.disconnect, if there is  | absent    | releases and removes it  |
 * |            | a connection and the user is an owner or admin)           |           |                          |
 * | any        | disconnect.refused (installation.disconnect, otherwise)   | same      | refuses                  |
 * | any        | installation.release                                      | absent    | releases and removes it  |
 *
 * A code host does not resend a missed delivery, so the connection checks the installation regularly.
 *
 * A user may connect if they are still an owner or admin, and the workspace is open and below its connection limit. The
 * turn that connects checks this. The claims actor ensures that no other workspace has the installation.
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

/** Replies whether the connection changed. The result of a check gets no reply. */
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

/**
 * The connection of one installation of the code host to a workspace, `code-host-connection/<installation>@<host>` in
 * the workspace's partition (configuration API, Code-host connection).
 *
 * | state     | moved by                                             | next      | also                            |
 * |-----------|------------------------------------------------------|-----------|---------------------------------|
 * | any       | confirmation.begun (installation.confirm)            | same      | asks the code host              |
 * | any       | confirmation.crowded (the same, too many at once)    | same      | refused                         |
 * | any       | claim.needed (effect.ended, may connect, and it is   | same      | claims it for the workspace     |
 * |           | not the workspace's)                                 |           |                                 |
 * | any       | confirmed.connected (the same where it is connected, | connected | connects it; reports that       |
 * |           | or name.claimed, granted)                            |           |                                 |
 * | any       | confirmed.suspended (the same, suspended there)      | suspended | the same                        |
 * | any       | confirmation.refused (effect.ended, any other, or    | same      | reports why not                 |
 * |           | name.claimed, another's)                             |           |                                 |
 * | any       | claim.unused (granted to who may connect no more)    | same      | reports why; releases it        |
 * | any       | claim.void (answered since it was claimed again)     | same      |                                 |
 * | any       | claim.kept (name.ask, where it is the workspace's)   | same      | confirms the claim              |
 * | any       | claim.lapsed (the same, where it is not)             | same      | lets the claim lapse            |
 * | any       | changed.connected, .suspended, .deleted              | as it is  | answers; releases a deleted one |
 * |           | (installation.changed, or effect.ended of a look,    |           |                                 |
 * |           | where it is the workspace's)                         |           |                                 |
 * | any       | changed.nothing (the same, known or older)           | same      | answers                         |
 * | connected,| woken `look`                                         | same      | asks the code host for its      |
 * | suspended |                                                      |           | status; again in six hours      |
 * | any other | the same                                             | same      |                                 |
 * | any       | disconnect.allowed (installation.disconnect, by an   | absent    | releases and removes it         |
 * |           | owner or admin, where there is a connection)         |           |                                 |
 * | any       | disconnect.refused (the same, any other)             | same      | refused                         |
 * | any       | installation.release                                 | absent    | releases and removes it         |
 *
 * A code host does not send a missed delivery again, so the connection checks regularly.
 *
 * "May connect": the person is still an owner or admin, the workspace is open and has not too many connections. All of
 * it is checked in the turn that connects. The claims actor ensures that no other workspace has the installation.
 */
import { assertEvent, assign, setup } from "xstate";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered } from "../../runtime/turn.js";
import {
  type CodeHostConnectionContext,
  type CodeHostConnectionEvent,
  classifyConnection,
} from "./classify-connection.js";
import { codeHostConnectionRef } from "./connection.messages.js";
import * as steps from "./connection.transitions.js";
import { parseActorId } from "./installation.js";

const machine = setup({
  types: {
    context: {} as CodeHostConnectionContext,
    events: {} as Delivered<CodeHostConnectionEvent>,
    input: {} as { readonly id: string },
  },
  actions: {
    connect: assign(({ context, event }) => {
      assertEvent(event, ["confirmed.connected", "confirmed.suspended"]);
      return steps.connect(context, event);
    }),
    change: assign(({ context, event }) => {
      assertEvent(event, ["changed.connected", "changed.suspended", "changed.deleted"]);
      return steps.applyChange(context, event);
    }),
    refuse: ({ event }) => {
      assertEvent(event, ["confirmation.crowded", "disconnect.refused"]);
      event.turn.reply(event.refusal);
    },
    startCheck: ({ context, event }) => steps.startInstallationCheck(context, event.turn),
    remove: assign(({ context, event }) => {
      assertEvent(event, ["disconnect.allowed", "installation.release"]);
      return steps.disconnect(context, event.turn);
    }),
    stopWhenDone: ({ context, event }) => {
      if (context.connection === null && context.attempts.length === 0) event.turn.stop();
    },
  },
}).createMachine({
  id: "code-host-connection",
  context: ({ input }) => ({ ...parseActorId(input.id), connection: null, attempts: [] }),
  initial: "absent",
  on: {
    "confirmation.begun": { actions: assign(({ context, event }) => steps.startConfirmation(context, event)) },
    "confirmation.crowded": { actions: "refuse" },
    "confirmed.connected": { target: ".connected", actions: "connect" },
    "confirmed.suspended": { target: ".suspended", actions: "connect" },
    "confirmation.refused": {
      actions: [assign(({ context, event }) => steps.publishRefusal(context, event)), "stopWhenDone"],
    },
    "claim.needed": { actions: assign(({ context, event }) => steps.claim(context, event)) },
    "claim.unused": { actions: [assign(({ context, event }) => steps.publishUnused(context, event)), "stopWhenDone"] },
    "claim.void": { actions: "stopWhenDone" },
    "claim.kept": { actions: ({ context, event }) => steps.confirmClaim(context, event.turn) },
    "claim.lapsed": { actions: [({ context, event }) => steps.lapseClaim(context, event), "stopWhenDone"] },
    "changed.connected": { target: ".connected", actions: "change" },
    "changed.suspended": { target: ".suspended", actions: "change" },
    "changed.deleted": { target: ".deleted", actions: "change" },
    "changed.nothing": {
      actions: [({ event }) => (event.isTold ? event.turn.reply(false) : undefined), "stopWhenDone"],
    },
    "disconnect.allowed": { target: ".absent", actions: ["remove", "stopWhenDone"] },
    "disconnect.refused": { actions: ["refuse", "stopWhenDone"] },
    "installation.release": { target: ".absent", actions: ["remove", "stopWhenDone"] },
  },
  states: {
    absent: { on: { woken: { target: "absent" } } },
    connected: { on: { woken: { actions: "startCheck" } } },
    suspended: { on: { woken: { actions: "startCheck" } } },
    deleted: { on: { woken: { target: "deleted" } } },
  },
});

/** See the table above. */
export const codeHostConnectionActor = defineActor(codeHostConnectionRef, {
  machine,
  classify: classifyConnection,
  version: 1,
});

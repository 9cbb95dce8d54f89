/**
 * The connection of one installation of the code host to a workspace, `code-host-connection/<installation>@<host>` in
 * the workspace's partition (configuration API, Code-host connection).
 *
 * | state     | moved by                                             | next      | also                            |
 * |-----------|------------------------------------------------------|-----------|---------------------------------|
 * | any       | confirmation.begun (installation.confirm)            | same      | the code host is asked          |
 * | any       | confirmation.crowded (the same, too many at once)    | same      | refused                         |
 * | any       | claim.needed (effect.ended, may connect, and it is   | same      | claimed for the workspace       |
 * |           | not the workspace's)                                 |           |                                 |
 * | any       | confirmed.connected (the same where it is connected, | connected | this workspace's alone; told    |
 * |           | or name.claimed, granted)                            |           |                                 |
 * | any       | confirmed.suspended (the same, suspended there)      | suspended | the same                        |
 * | any       | confirmation.refused (effect.ended, any other, or    | same      | told why not                    |
 * |           | name.claimed, another's)                             |           |                                 |
 * | any       | claim.unused (granted to who may connect no more)    | same      | told why not; free              |
 * | any       | claim.void (answered since it was claimed again)     | same      |                                 |
 * | any       | claim.kept (name.ask, where it is the workspace's)   | same      | the claim is confirmed          |
 * | any       | claim.lapsed (the same, where it is not)             | same      | the claim lapses                |
 * | any       | changed.connected, .suspended, .deleted              | as it is  | answered; deleted it is free    |
 * |           | (installation.changed, or effect.ended of a look,    |           |                                 |
 * |           | where it is the workspace's)                         |           |                                 |
 * | any       | changed.nothing (the same, known or older)           | same      | answered                        |
 * | connected,| woken `look`                                         | same      | the code host is asked how it   |
 * | suspended |                                                      |           | is; again in six hours          |
 * | any other | the same                                             | same      |                                 |
 * | any       | disconnect.allowed (installation.disconnect, by an   | absent    | free; nothing is left of it     |
 * |           | owner or admin, where there is a connection)         |           |                                 |
 * | any       | disconnect.refused (the same, any other)             | same      | refused                         |
 * | any       | installation.release                                 | absent    | free; nothing is left of it     |
 *
 * A code host does not tell again what was not heard, hence the looks.
 *
 * "May connect": the person is still an owner or admin, the workspace open, and it has not too many. All of it is looked
 * at in the turn that connects. That the installation is no other workspace's, the keeper of claims says.
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
    look: ({ context, event }) => steps.startInstallationCheck(context, event.turn),
    remove: assign(({ context, event }) => steps.disconnect(context, event.turn)),
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
    connected: { on: { woken: { actions: "look" } } },
    suspended: { on: { woken: { actions: "look" } } },
    deleted: { on: { woken: { target: "deleted" } } },
  },
});

/** See the table above. */
export const codeHostConnectionActor = defineActor(codeHostConnectionRef, {
  machine,
  classify: classifyConnection,
  version: 1,
});

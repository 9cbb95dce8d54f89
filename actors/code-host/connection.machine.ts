/**
 * The connection of one installation of the code host to a workspace, `code-host-connection/<installation>@<host>` in
 * the workspace's partition (configuration API, Code-host connection).
 *
 * | state     | moved by                           | condition             | next      | also                            |
 * |-----------|------------------------------------|-----------------------|-----------|---------------------------------|
 * | any       | installation.confirm               |                       | same      | the code host is asked          |
 * | any       | the same                           | too many at once      | same      | refused                         |
 * | any       | effect.ended, they administer it   | may connect           | connected | this workspace's alone; told    |
 * | any       | the same                           | suspended there       | suspended | the same                        |
 * | any       | effect.ended of a confirmation     | any other             | same      | told why not                    |
 * | connected | installation.changed, suspended    | not older than known  | suspended |                                 |
 * | suspended | installation.changed, unsuspended  | not older than known  | connected |                                 |
 * | connected,| installation.changed, deleted      |                       | deleted   | free                            |
 * | suspended |                                    |                       |           |                                 |
 * | any       | installation.changed               | any other             | same      |                                 |
 * | connected,| woken `look`                       |                       | same      | the code host is asked how it   |
 * | suspended |                                    |                       |           | is; again in six hours          |
 * | connected,| effect.ended of a look             | it is otherwise there | as it is  | the same as if it had been told |
 * | suspended |                                    |                       |           |                                 |
 * | any       | installation.disconnect            | by an owner or admin  | absent    | free; nothing is left of it     |
 * | absent    | the same                           |                       | absent    | refused, there is none          |
 * | any other | the same                           | by anyone else        | same      | refused                         |
 * | any       | installation.release               |                       | absent    | free; nothing is left of it     |
 *
 * A code host does not tell again what was not heard, hence the looks.
 *
 * "May connect": the person is still an owner or admin, the workspace open, the installation no other workspace's, and
 * the workspace has not too many. All of it is looked at in the turn that connects.
 */
import { assign, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import type { CodeHostConnectionEvent } from "./connection.messages.js";
import * as steps from "./connection.transitions.js";

const machine = setup({
  types: {
    context: {} as steps.CodeHostConnectionContext,
    events: {} as CodeHostConnectionEvent,
    input: {} as { readonly id: string },
  },
  guards: {
    connects: ({ context, event }) => steps.findConnectedState(context, event) === "connected",
    connectsSuspended: ({ context, event }) => steps.findConnectedState(context, event) === "suspended",
    becomesSuspended: ({ context, event }) => steps.findNextState(context, event) === "suspended",
    becomesConnected: ({ context, event }) => steps.findNextState(context, event) === "connected",
    becomesDeleted: ({ context, event }) => steps.findNextState(context, event) === "deleted",
    mayDisconnect: ({ context, event }) => steps.mayDisconnect(context, event),
  },
  actions: {
    confirm: assign(({ context, event }) => steps.startConfirmation(context, event)),
    connect: assign(({ context, event }) => steps.connect(context, event)),
    tellWhyNot: assign(({ context, event }) => steps.publishRefusal(context, event)),
    change: assign(({ context, event }) => steps.applyChange(context, event)),
    ignore: ({ event }) => event.turn.reply(false),
    look: ({ context, event }) => steps.startInstallationCheck(context, event),
    remove: assign(({ context, event }) => steps.disconnect(context, event)),
    refuse: ({ context, event }) => event.turn.reply(steps.whyNotDisconnected(context, event)),
    stopWhenDone: ({ context, event }) => {
      if (context.connection === null && context.attempts.length === 0) event.turn.stop();
    },
  },
}).createMachine({
  id: "code-host-connection",
  context: ({ input }) => steps.initialContext(input.id),
  initial: "absent",
  on: {
    "installation.confirm": { actions: "confirm" },
    "effect.ended": [
      { guard: "connects", target: ".connected", actions: "connect" },
      { guard: "connectsSuspended", target: ".suspended", actions: "connect" },
      { guard: "becomesSuspended", target: ".suspended", actions: "change" },
      { guard: "becomesConnected", target: ".connected", actions: "change" },
      { guard: "becomesDeleted", target: ".deleted", actions: "change" },
      { actions: ["tellWhyNot", "stopWhenDone"] },
    ],
    "installation.changed": [
      { guard: "becomesSuspended", target: ".suspended", actions: "change" },
      { guard: "becomesConnected", target: ".connected", actions: "change" },
      { guard: "becomesDeleted", target: ".deleted", actions: "change" },
      { actions: ["ignore", "stopWhenDone"] },
    ],
    "installation.disconnect": [
      { guard: "mayDisconnect", target: ".absent", actions: ["remove", "stopWhenDone"] },
      { actions: ["refuse", "stopWhenDone"] },
    ],
    woken: { actions: "look" },
    "installation.release": { target: ".absent", actions: ["remove", "stopWhenDone"] },
  },
  states: { absent: {}, connected: {}, suspended: {}, deleted: {} },
});

/** See the table above. */
export const codeHostConnectionActor: ActorType = { kind: "code-host-connection", machine, version: 1 };

import type { Subscriber } from "../../runtime/cells/actor-type.js";
import { defineArea } from "../area.js";
import { type ConfirmationOptions, confirmationEffect } from "./confirmation.effects.js";
import { codeHostConnectionActor } from "./connection.machine.js";
import { codeHostConnectionRef, type ReleaseInstallation } from "./connection.messages.js";
import { listCodeHostConnections } from "./connection.queries.js";
import { codeHostConnections } from "./connection.table.js";
import { hostedNames, hostedRepositories } from "./hosted-repository.table.js";
import { installationCheckEffect } from "./installation-check.effects.js";
import { installationClaims, installationClaimsActor } from "./installation-claims.machine.js";

/** Releases the installations of a workspace when it closes. */
const workspaceClosingSubscriber: Subscriber = {
  name: "installations are given free when their workspace closes",
  facts: ["workspace.closed"],
  handle: (_fact, turn) => {
    const { partition } = turn.self;
    const message: ReleaseInstallation = { type: "installation.release" };
    for (const connection of listCodeHostConnections(turn, partition))
      turn.send(codeHostConnectionRef(partition, connection), message);
  },
};

/** The code host: its installations, and the repositories that they reach. */
export const codeHostArea = defineArea({
  name: "code-host",
  actors: () => [codeHostConnectionActor, installationClaimsActor],
  tables: [codeHostConnections, hostedRepositories, hostedNames, installationClaims.rows],
  subscribers: [workspaceClosingSubscriber],
  effects: ({ codeHost, sealer }: ConfirmationOptions) => [
    installationCheckEffect(codeHost),
    confirmationEffect({ codeHost, sealer }),
  ],
});

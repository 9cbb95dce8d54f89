import { defineArea } from "../area.js";
import { type ConfirmationOptions, confirmationEffect } from "./confirmation.effects.js";
import { codeHostConnectionActor } from "./connection.machine.js";
import { codeHostConnections } from "./connection.table.js";
import { hostedNames, hostedRepositories } from "./hosted-repository.table.js";
import { installationCheckEffect } from "./installation-check.effects.js";
import { installationClaims, installationClaimsActor } from "./installation-claims.machine.js";
import { workspaceClosingSubscriber } from "./workspace-closing.js";

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

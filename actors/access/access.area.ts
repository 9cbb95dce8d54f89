import { type ActorParts, defineArea } from "../area.js";
import type { AllowList } from "../outbound/http/allow-list.js";
import { cached } from "../tables/stored-table.js";
import { workspaceActor } from "../workspaces/workspace.machine.js";
import { accountActor } from "./accounts/account.machine.js";
import { sessions, signInLinks, users } from "./accounts/session.table.js";
import { inviteActor } from "./invites/invite.machine.js";
import { inviteRetention, inviteSource } from "./invites/invite.table.js";
import { oauthStateActor } from "./oauth-states/oauth-state.machine.js";
import { credentialSource, credentials, mintedHashes } from "./tokens/minted-credential.table.js";
import { tokenMinting } from "./tokens/token-exchange.js";
import { workspaceTokenKind } from "./tokens/workspace-token.kind.js";
import { tokenTrustKind } from "./tokens/workspace-token-trust.kind.js";
import { trustActor } from "./trusts/trust.machine.js";
import { refusals } from "./trusts/trust-refusal.table.js";
import { resourceTopic } from "./visibility/resource-topic.view.js";
import { refuseInTurn } from "./visibility/write-permission.js";

/**
 * Accounts, invites, OAuth states, workspace tokens and trusts. The workspace actor is also in this area, because it
 * checks the caller's permission in each write.
 */
export const accessArea = defineArea({
  name: "access",
  kinds: (deployment: { readonly allowList: AllowList }) => [workspaceTokenKind, tokenTrustKind(deployment)],
  actors: ({ kinds }: Pick<ActorParts, "kinds">) => [
    workspaceActor(kinds, refuseInTurn),
    accountActor,
    inviteActor,
    oauthStateActor,
    trustActor(tokenMinting),
  ],
  tables: [users, cached(sessions), signInLinks, inviteRetention, credentials, refusals],
  directories: [mintedHashes],
  directorySources: () => [inviteSource, credentialSource],
  topics: ({ kinds }: Pick<ActorParts, "kinds">) => ({ workspace: resourceTopic(kinds, "workspace") }),
});

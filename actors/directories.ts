import type { DirectoryCatalogue } from "../runtime/directories/rebuild-directories.js";
import { inviteSource } from "./access/invites/invite.table.js";
import { credentialSource, mintedHashes } from "./access/tokens/minted-credential.table.js";
import { pullRequestSource } from "./pull-requests/pull-request.table.js";
import { madeCandidateSource } from "./replays/candidates/made-candidate.table.js";
import type { Kind } from "./resources/kind.js";
import { resourceHashes } from "./resources/resource-hash.table.js";
import { resourceSource } from "./resources/resource-indexes.table.js";
import { resourceLocations } from "./resources/resource-location.table.js";
import { connectedRunnerSource } from "./runners/runner.machine.js";
import { connectedRunners } from "./runners/runner.table.js";
import { runSource } from "./runs/run.table.js";
import { taskSource } from "./tasks/task.table.js";
import { memberSource, memberships } from "./workspaces/member.table.js";

/** Lists all directories, with the rows and states that can rebuild them. */
export function createDirectoryCatalogue(kinds: readonly Kind[]): DirectoryCatalogue {
  const directories = [resourceLocations, resourceHashes, memberships, mintedHashes, connectedRunners];
  return {
    names: directories.map(({ name }) => name),
    sources: [
      resourceSource(kinds),
      memberSource,
      inviteSource,
      credentialSource,
      connectedRunnerSource,
      taskSource,
      runSource,
      pullRequestSource,
      madeCandidateSource,
    ],
  };
}

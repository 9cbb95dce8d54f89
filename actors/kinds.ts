import { workspaceTokenKind } from "./access/tokens/workspace-token.kind.js";
import { tokenTrustKind } from "./access/tokens/workspace-token-trust.kind.js";
import { hookKind } from "./hooks/hook.kind.js";
import { integrationKind } from "./integrations/integration.kind.js";
import { harnessProfileKind } from "./lines/harness-profile.kind.js";
import { lineKind } from "./lines/line.kind.js";
import { skillKind } from "./lines/skill.kind.js";
import type { AllowList } from "./outbound/http/allow-list.js";
import { replayCandidateKind } from "./replays/candidates/replay-candidate.kind.js";
import { describeReplaysUnderWay } from "./replays/replay/team-in-use.js";
import type { Kind } from "./resources/kind.js";
import { runnerPoolKind } from "./runners/runner-pool.kind.js";
import { runnerTrustKind } from "./runners/runner-trust.kind.js";
import { workspaceRunnersKind } from "./runners/workspace-runners.kind.js";
import { describeSearchesUnderWay } from "./searches/search/team-in-use.js";
import { secretKind } from "./workspaces/secret.kind.js";
import { teamKind } from "./workspaces/team.kind.js";
import { workspaceKind } from "./workspaces/workspace.kind.js";

/** Settings of the deployment that the rules of some kinds depend on. */
export interface Deployment {
  readonly allowList: AllowList;
  /** Whether the deployment has a key to sign hook tokens. */
  readonly signsTokens: boolean;
  /** How long hooks also sign with a replaced secret, in hours; 0 by default. */
  readonly rotationHours?: number;
  /** Whether a model is configured to judge replays; false by default. */
  readonly judges?: boolean;
  /** The service's base URL, without a trailing slash; empty by default. */
  readonly baseUrl?: () => string;
}

/**
 * Creates all resource kinds. A kind must come after the kinds that it refers to, so that an export can use references.
 * Each kind is one file and one line here.
 */
export function createKinds(deployment: Deployment): readonly Kind[] {
  return [
    workspaceKind,
    secretKind,
    runnerPoolKind(deployment),
    workspaceRunnersKind,
    runnerTrustKind(deployment),
    workspaceTokenKind,
    tokenTrustKind(deployment),
    { ...teamKind, inUse: describeTeamUse },
    skillKind,
    harnessProfileKind,
    integrationKind(deployment),
    lineKind(deployment),
    hookKind(deployment),
    replayCandidateKind,
  ];
}

/** Returns why a team cannot be deleted, or null. Searches and replays that spend money must end first. */
const describeTeamUse: Kind["inUse"] = (team, reading) =>
  describeSearchesUnderWay(team, reading) ?? describeReplaysUnderWay(team, reading);

import { workspaceTokenKind } from "./access/workspace-token.kind.js";
import { lineKind } from "./lines/line.kind.js";
import type { Kind } from "./resources/kind.js";
import { runnerPoolKind } from "./runners/runner-pool.kind.js";
import { secretKind } from "./workspaces/secret.kind.js";
import { teamKind } from "./workspaces/team.kind.js";
import { workspaceKind } from "./workspaces/workspace.kind.js";

/** Every resource kind, in the order of the reference's table. A kind is one file and one line here. */
export function createKinds(): readonly Kind[] {
  return [workspaceKind, teamKind, lineKind, secretKind, workspaceTokenKind, runnerPoolKind];
}

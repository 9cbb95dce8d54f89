/**
 * Stores which workspace each installation belongs to, `installation-claims/all` in the global partition.
 * `actors/tables/claims.ts` describes the steps of a claim. There is only one state, because rows store the claims.
 *
 * | state   | event                                  | next    | also                                             |
 * |---------|----------------------------------------|---------|--------------------------------------------------|
 * | keeping | name.claim                             | keeping | reports to the connection whether the claim is   |
 * |         |                                        |         | granted                                          |
 * | keeping | name.confirm, name.release, name.lapse | keeping | updates the claim                                |
 * | keeping | woken                                  | keeping | asks the connection that claimed the             |
 * |         |                                        |         | installation                                     |
 */
import { createChart, type NoContext } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { reference } from "../../runtime/cells/reference.js";
import type { Delivered, Message, Woken } from "../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { table } from "../../storage/table.js";
import {
  askHolder,
  type ClaimedName,
  type ClaimRow,
  type Claims,
  type ConfirmName,
  claimName,
  confirmName,
  freeName,
  type LapseName,
  type ReleaseName,
} from "../tables/claims.js";
import { codeHostConnectionRef, type InstallationClaimed } from "./connection.messages.js";
import type { InstallationKey } from "./installation.js";

/** Claims an installation for a workspace's connection. The claims actor answers with {@link InstallationClaimed}. */
export interface ClaimInstallation extends Message {
  readonly type: "name.claim";
  readonly name: ClaimedName;
  readonly workspaceId: string;
  /** The answer repeats this key. */
  readonly key: string;
}

const references = reference<ClaimInstallation | ConfirmName | ReleaseName | LapseName>("installation-claims");
/** The actor that stores the claims. */
export const installationClaimsRef = references(GLOBAL_PARTITION, "all");

/** The rows of installation claims, and the actor that holds each claim. */
export const installationClaims: Claims = {
  rows: table<ClaimRow>("code-host-installation"),
  holder: (workspaceId, name) => codeHostConnectionRef(workspaceId, toInstallation(name)),
};

/** Returns the name of an installation's claim. */
export function toName({ host, installationId }: InstallationKey): ClaimedName {
  return [host, installationId];
}

function toInstallation([host, installationId]: ClaimedName): InstallationKey {
  return { host: String(host), installationId: Number(installationId) };
}

const { on, machine } = createChart<NoContext, ClaimInstallation | ConfirmName | ReleaseName | LapseName | Woken>();

const installationClaimsMachine = machine({
  id: "installation-claims",
  context: {},
  initial: "keeping",
  states: {
    keeping: {
      on: {
        ...on("name.claim", claim),
        ...on("name.confirm", (event) => confirmName(installationClaims, event.turn, event)),
        ...on("name.release", (event) => void freeName(installationClaims, event.turn, event)),
        ...on("name.lapse", (event) => void freeName(installationClaims, event.turn, event)),
        ...on("woken", ({ turn, name }) => askHolder(installationClaims, turn, name)),
      },
    },
  },
});

/** See the table above. */
export const installationClaimsActor = defineActor(references, { machine: installationClaimsMachine, version: 1 });

function claim({ turn, name, workspaceId, key }: Delivered<ClaimInstallation>): void {
  const isGranted = claimName(installationClaims, turn, name, { workspaceId }) !== null;
  const claimed: InstallationClaimed = { type: "name.claimed", key, isGranted };
  turn.send(codeHostConnectionRef(workspaceId, toInstallation(name)), claimed);
}

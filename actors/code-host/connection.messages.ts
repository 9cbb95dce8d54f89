import { reference } from "../../runtime/cells/reference.js";
import { topic } from "../../runtime/feeds/topic.js";
import type { Answered, Message } from "../../runtime/turns/turn.js";
import type { Refusal } from "../refusal.js";
import type { AskHolder } from "../tables/claims.js";
import type { CodeHostConnection, HostPermissions } from "./connection.js";
import { type InstallationKey, toActorId } from "./installation.js";

/**
 * Asks the code host whether a user administers the installation, and connects the installation if so. The reply is
 * immediate and only says whether the confirmation started. The feed publishes the result later, as a {@link
 * ConnectOutcome} under {@link attemptTopic}.
 */
export interface ConfirmInstallation extends Answered<Refusal | null> {
  readonly type: "installation.confirm";
  readonly attemptId: string;
  readonly by: string;
  /** A sealed `SignInGrant` (see `confirmation.effects.ts`). */
  readonly sealedSignIn: string;
}

/** The result of a confirmation. */
export type ConnectOutcome = { readonly connection: CodeHostConnection } | Refusal;

/**
 * Reports that the installation changed at the code host. The reply says whether this changed the stored connection.
 */
export interface InstallationChanged extends Answered<boolean> {
  readonly type: "installation.changed";
  readonly change: "deleted" | "suspended" | "unsuspended";
  /** When the change happened, by the code host's clock, in milliseconds since 1970. */
  readonly atMs: number;
  /** The app's new permissions for the installation; absent if they did not change. */
  readonly permissions?: HostPermissions;
}

/** Removes the connection. */
export interface DisconnectInstallation extends Answered<Refusal | null> {
  readonly type: "installation.disconnect";
  readonly by: string;
}

/** Releases the installation and removes the connection, because the workspace is closed. */
export interface ReleaseInstallation extends Answered<null> {
  readonly type: "installation.release";
}

/** Reports whether the claims actor granted the workspace's claim of an installation. */
export interface InstallationClaimed extends Message {
  readonly type: "name.claimed";
  /** The key of the claim. */
  readonly key: string;
  readonly isGranted: boolean;
}

export type CodeHostConnectionMessage =
  | ConfirmInstallation
  | InstallationChanged
  | DisconnectInstallation
  | ReleaseInstallation
  | InstallationClaimed
  | AskHolder;

/** The connection of one installation to a workspace. */
export const codeHostConnectionRef = reference<
  CodeHostConnectionMessage,
  [workspaceId: string, installation: InstallationKey]
>("code-host-connection", (workspaceId, installation) => [workspaceId, toActorId(installation)]);

/** The topic of a confirmation attempt in the change feed. The attempt's outcome is published there. */
export const attemptTopic = topic<ConnectOutcome>("code-host-attempt");

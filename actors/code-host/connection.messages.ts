import { reference } from "../../runtime/reference.js";
import { topic } from "../../runtime/topic.js";
import type { Answered, Message } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { AskHolder } from "../tables/claims.js";
import type { CodeHostConnection, HostPermissions } from "./connection.js";
import { type InstallationKey, toActorId } from "./installation.js";

/**
 * Asks the code host whether a person administers the installation, and connects it if so. Answered at once; the result
 * is published as a {@link ConnectOutcome} on the feed, under {@link attemptTopic}.
 */
export interface ConfirmInstallation extends Answered<Refusal | null> {
  readonly type: "installation.confirm";
  readonly attemptId: string;
  readonly by: string;
  /** See `confirmation.effects.ts`. */
  readonly sealedSignIn: string;
}

/** The result of a confirmation. */
export type ConnectOutcome = { readonly connection: CodeHostConnection } | Refusal;

/** The installation changed at the code host. Answered with whether anything changed here. */
export interface InstallationChanged extends Answered<boolean> {
  readonly type: "installation.changed";
  readonly change: "deleted" | "suspended" | "unsuspended";
  /** The code host's timestamp of the change. */
  readonly atMs: number;
  /** What the app may do there from now on; absent where that is as it was. */
  readonly permissions?: HostPermissions;
}

/** Removes the connection. */
export interface DisconnectInstallation extends Answered<Refusal | null> {
  readonly type: "installation.disconnect";
  readonly by: string;
}

/** The workspace is closed. */
export interface ReleaseInstallation extends Answered<null> {
  readonly type: "installation.release";
}

/** Whether the workspace got the installation it claimed; from the claims actor. */
export interface InstallationClaimed extends Message {
  readonly type: "name.claimed";
  /** As in the claim. */
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

/** The topic of the change feed where an attempt's outcome is published. */
export const attemptTopic = topic<ConnectOutcome>("code-host-attempt");

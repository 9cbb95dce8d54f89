import type { Delivered, EffectEnded, Message, Woken } from "../../runtime/turn.js";
import type { Refusal } from "../refusal.js";
import type { CodeHostConnection } from "./connection.table.js";

/**
 * Has the code host asked whether a person administers the installation, and connects it if so. Answered at once with
 * null, or refused; what comes of it is told as a {@link ConnectOutcome} on the feed, under {@link attemptTopic}.
 */
export interface ConfirmInstallation extends Message {
  readonly type: "installation.confirm";
  readonly attemptId: string;
  readonly by: string;
  /** See `confirmation.effects.ts`. */
  readonly sealedSignIn: string;
}

/** What came of a confirmation. */
export type ConnectOutcome = { readonly connection: CodeHostConnection } | Refusal;

/** Something happened to the installation there. Answered with whether it changed anything here. */
export interface InstallationChanged extends Message {
  readonly type: "installation.changed";
  readonly change: "deleted" | "suspended" | "unsuspended";
  /** The code host's own time of it. */
  readonly atMs: number;
}

/** Takes the connection away. Answered with null, or refused. */
export interface DisconnectInstallation extends Message {
  readonly type: "installation.disconnect";
  readonly by: string;
}

/** The workspace is closed. */
export interface ReleaseInstallation extends Message {
  readonly type: "installation.release";
}

export type CodeHostConnectionEvent = Delivered<
  ConfirmInstallation | InstallationChanged | DisconnectInstallation | ReleaseInstallation | EffectEnded | Woken
>;

/** The topic of the change feed where an attempt's outcome is told. */
export function attemptTopic(attemptId: string): string {
  return `code-host-attempt/${attemptId}`;
}

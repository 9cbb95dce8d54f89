import type { InstallationKey } from "./installation.js";

/** An installation that is connected to a workspace. */
export interface CodeHostConnection extends InstallationKey {
  readonly account: { readonly login: string; readonly kind: "organization" | "user" };
  readonly state: "connected" | "suspended" | "deleted";
  readonly connectedBy: string;
  readonly connectedAtMs: number;
  /** The code host's timestamp of the stored data. */
  readonly asOfMs: number;
  /** The app's permissions for the installation, by GitHub's names; absent if the code host did not report them. */
  readonly permissions?: HostPermissions;
}

/** `read` or `write`, by the name of a permission. */
export type HostPermissions = Readonly<Record<string, string>>;

/** Maximum number of installations that one workspace can connect to. */
export const MAX_CONNECTIONS = 100;

import type { InstallationKey } from "./installation.js";

/** An installation that is connected to a workspace. */
export interface CodeHostConnection extends InstallationKey {
  readonly account: { readonly login: string; readonly kind: "organization" | "user" };
  readonly state: "connected" | "suspended" | "deleted";
  readonly connectedBy: string;
  readonly connectedAtMs: number;
  /** The code host's timestamp of the stored data. */
  readonly asOfMs: number;
  /** What the app may do there, by GitHub's names; absent where the code host did not say. */
  readonly permissions?: HostPermissions;
}

/** `read` or `write`, by the name of a permission. */
export type HostPermissions = Readonly<Record<string, string>>;

/** Most installations that one workspace connects to. */
export const MAX_CONNECTIONS = 100;

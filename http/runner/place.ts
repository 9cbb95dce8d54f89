import type { Checkout } from "./checkout/checkout.js";
import type { RunFolder } from "./checkout/run-folder.js";
import type { PushSite } from "./push/push-site.js";

/** A run's folder, and the repositories that the runner has checked out in it so far. */
export interface Place {
  readonly folder: RunFolder;
  readonly checkouts: Checkout[];
  /** The push sites of the checkouts. The runner uses them to read each checkout's changes, and to push them. */
  readonly sites: PushSite[];
}

/** A command of the station or of a repository. */
export interface ShellCommand {
  readonly command: string;
  readonly cwd: string;
  /** Whether the command gets the values of the harness's secrets. */
  readonly secrets: boolean;
}

import type { Checkout } from "./checkout/checkout.js";
import type { RunFolder } from "./checkout/run-folder.js";
import type { PushSite } from "./push/push-site.js";

/** A run's folder, and the repositories that the runner has checked out in it so far. */
export interface Place {
  readonly folder: RunFolder;
  readonly checkouts: Checkout[];
  /** The sites with which the runner reads each checkout's changes, and from which it pushes them. */
  readonly sites: PushSite[];
}

/** A command of the station or of a repository. */
export interface ShellCommand {
  readonly command: string;
  readonly cwd: string;
  /** Whether the command gets the values of the harness's secrets. */
  readonly secrets: boolean;
}

import type { Job } from "../../../actors/runners/job.js";
import { errorMessage, JobFailed } from "../job-failed.js";
import type { CommandResult } from "../process/command.js";
import { type Checkout, createCheckout, type RestoreCommit } from "./checkout.js";
import type { Mirrors } from "./mirrors.js";
import type { RunFolder } from "./run-folder.js";

export interface LayOutOptions {
  readonly folder: RunFolder;
  readonly mirrors: Mirrors;
  readonly restore: RestoreCommit;
  readonly signal: AbortSignal;
  /** The checkouts made so far. */
  readonly checkouts: Checkout[];
  /** Called with each checkout before any program of the run can see it. */
  readonly laidOut: (checkout: Checkout) => Promise<void>;
  /** Runs the setup command of a checkout. */
  readonly setUp: (checkout: Checkout, command: string) => Promise<CommandResult>;
}

/**
 * Creates a job's checkouts, adds each to `checkouts`, and runs its setup. Rejects with a {@link JobFailed}:
 * `no-image`, `checkout-failed` or `setup-failed`.
 */
export async function layOutCheckouts(job: Pick<Job, "checkouts">, options: LayOutOptions): Promise<void> {
  const { folder, mirrors, restore, signal, checkouts, laidOut, setUp } = options;
  for (const wanted of job.checkouts) {
    const { repository, image, setup } = wanted;
    if (image !== null) {
      const message = `${repository} requires the image ${image}, but this runner does not start containers`;
      throw new JobFailed("no-image", message);
    }
    const site = { folder: folder.checkout(repository), record: folder.record(repository), signal, restore };
    const checkout = await createCheckout(mirrors, wanted, site).catch((error: unknown) => {
      throw new JobFailed("checkout-failed", `cannot check out ${repository}`, errorMessage(error));
    });
    checkouts.push(checkout);
    await laidOut(checkout);
    if (setup === null) continue;
    const { exitCode, output } = await setUp(checkout, setup);
    if (exitCode !== 0) {
      throw new JobFailed("setup-failed", `the setup of ${repository} exited with ${exitCode ?? "a signal"}`, output);
    }
  }
}

/**
 * Returns the agent's working folder: the checkout if there is only one, otherwise the folder that contains all
 * checkouts.
 */
export function toCwd({ folder, checkouts }: Pick<LayOutOptions, "folder" | "checkouts">): string {
  const [only, ...others] = checkouts;
  return only !== undefined && others.length === 0 ? only.folder : folder.checkouts;
}

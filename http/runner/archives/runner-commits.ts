import type { Clock } from "../../../runtime/clock.js";
import type { Mirrors } from "../checkout/mirrors.js";
import type { ServiceConnection } from "../connection/service-connection.js";
import type { ServiceRequestsOptions } from "../connection/service-requests.js";
import { ArchiveCache } from "./archive-cache.js";
import { ArchiveClient } from "./archive-client.js";
import { RetainedReport } from "./retained-report.js";
import { WantedCommits } from "./wanted-commits.js";

export interface RunnerCommitsOptions extends Pick<ServiceRequestsOptions, "url" | "credential"> {
  readonly workFolder: string;
  readonly mirrors: Mirrors;
  readonly clock: Clock;
  readonly connection: () => Pick<ServiceConnection, "runnerId" | "sendRetained">;
  readonly log: (line: string) => void;
}

/** The parts of a runner that preserve commits after their branches are deleted. */
export interface RunnerCommits {
  readonly archives: ArchiveCache;
  readonly kept: RetainedReport;
  readonly wanted: WantedCommits;
  /** Aborts the current work. Resolves when that work has ended. */
  close(): Promise<void>;
}

export function createCommits(options: RunnerCommitsOptions): RunnerCommits {
  const { connection } = options;
  const client = new ArchiveClient({ ...options, runnerId: () => connection().runnerId });
  const kept = new RetainedReport({ ...options, send: (frame) => connection().sendRetained(frame) });
  const wanted = new WantedCommits({ ...options, client });
  return {
    archives: new ArchiveCache({ ...options, client }),
    kept,
    wanted,
    close: async () => {
      await Promise.all([kept.close(), wanted.close()]);
    },
  };
}

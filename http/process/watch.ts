import { statSync } from "node:fs";
import { join } from "node:path";
import { Fleet } from "../../actors/runners/fleet.js";
import { OpenTasks } from "../../actors/tasks/open-tasks.js";
import type { Scheduler } from "../../runtime/clock.js";
import type { RowMemory } from "../../runtime/rows/row-memory.js";
import { isDamage, type Runtime } from "../../runtime/runtime.js";
import type { Reported } from "../../runtime/turns/turn.js";
import { DATA_FILE } from "../../storage/data-file.js";
import { nextPartition } from "../../storage/partitions.js";
import type { OpenSockets } from "../limits/open-sockets.js";
import { readLastBackup } from "./last-backup.js";
import { createMetrics, type ServiceMetrics } from "./metrics.js";
import { ReportLog } from "./report-log.js";
import type { ServiceParts } from "./service-parts.js";

/** How operators observe a service: its metrics, and the log lines of its reports. */
export interface Watch {
  readonly metrics: ServiceMetrics;
  readonly reports: ReportLog;
  /** The parts of the metrics that must receive each change of a row. */
  readonly memories: readonly RowMemory[];
  /** Counts and logs a report that a turn made. */
  readonly reported: (reported: Reported) => void;
}

interface Later {
  readonly runtime: () => Pick<Runtime, "stats" | "reading" | "feed" | "damageMet">;
  readonly openSockets: OpenSockets;
  readonly scheduler: Pick<Scheduler, "defer">;
}

/**
 * Creates the metrics and the report log. Call it before the runtime is created: nothing is read from the store until
 * the first scrape.
 */
export function openWatch(
  { options: { config, log }, clock }: Pick<ServiceParts, "options" | "clock">,
  later: Later,
): Watch {
  const { runtime, openSockets } = later;
  const figures = new StoredFigures(later);
  const metrics = createMetrics(() => runtime().stats(), {
    reading: () => runtime().reading,
    nowMs: () => clock.now(),
    ready: () => figures.ready(),
    fleet: figures.fleet,
    openTasks: figures.openTasks,
    sockets: () => openSockets.byPath,
    storeBytes: () => statSync(join(config.dataFolder, DATA_FILE), { throwIfNoEntry: false })?.size ?? null,
    modelCurrency: config.model?.prices?.currency ?? null,
    backupAtMs: () => readLastBackup(config.dataFolder),
  });
  const reports = new ReportLog(log, clock);
  const reported = (each: Reported): void => {
    reports.write(each);
    metrics.reported(each);
  };
  return { metrics, reports, memories: [figures], reported };
}

/**
 * Figures about the stored rows. The first scrape reads them from the store, one workspace per round of the event loop.
 * So the time to start does not depend on the number of workspaces. After that, each change of a row updates the
 * figures.
 */
class StoredFigures implements RowMemory {
  readonly fleet = new Fleet();
  readonly openTasks = new OpenTasks();
  readonly #later: Later;
  #built: Promise<void> | null = null;

  constructor(later: Later) {
    this.#later = later;
  }

  applied(...[changes]: Parameters<RowMemory["applied"]>): void {
    if (this.#built === null) return;
    this.fleet.applied(changes);
    this.openTasks.applied(changes);
  }

  ready(): Promise<void> {
    this.#built ??= this.#build();
    return this.#built;
  }

  async #build(): Promise<void> {
    const { runtime, scheduler } = this.#later;
    const { reading } = runtime();
    for (let at = nextPartition(reading, ""); at !== undefined; at = nextPartition(reading, at)) {
      this.#buildOf(at);
      await new Promise<void>((resolve) => scheduler.defer(resolve));
    }
  }

  #buildOf(partition: string): void {
    const runtime = this.#later.runtime();
    const { reading, feed } = runtime;
    try {
      feed.measure(partition);
      this.fleet.build(reading, partition);
      this.openTasks.build(reading, partition);
    } catch (error) {
      if (!isDamage(error)) throw error;
      runtime.damageMet(error);
    }
  }
}

import { defineArea } from "../area.js";
import { archiveActor } from "./archive.machine.js";
import { archiveChunks, archiveHolds, archives, archiveUsage } from "./archive.table.js";
import { type ArchiveLimits, defaultArchiveLimits } from "./classify-archive.js";

interface ArchiveParts {
  /** The limits on stored commit packs. */
  readonly archives?: ArchiveLimits;
}

/** Commits that replays and replay sets need, as packs. */
export const archivesArea = defineArea({
  name: "archives",
  actors: ({ archives: limits = defaultArchiveLimits }: ArchiveParts) => [archiveActor(limits)],
  tables: [archives, archiveHolds, archiveChunks, archiveUsage],
});

import type { CoveringReading } from "../../runtime/rows/covered-reading.js";
import { CountingReading } from "./counting-reading.js";

/** A {@link CountingReading} that reports all rows as in memory, at the version that a test sets; null for unknown. */
export class VersionedReading extends CountingReading implements CoveringReading {
  version: number | null = 1;

  covers(): boolean {
    return true;
  }

  coveredVersion(): number | null {
    return this.version;
  }
}

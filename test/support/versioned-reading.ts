import type { CoveringReading } from "../../runtime/rows/covered-reading.js";
import { CountingReading } from "./counting-reading.js";

/**
 * A {@link CountingReading} that reports that all rows are in memory. A test sets the version of the rows, or null for
 * an unknown version.
 */
export class VersionedReading extends CountingReading implements CoveringReading {
  version: number | null = 1;

  covers(): boolean {
    return true;
  }

  coveredVersion(): number | null {
    return this.version;
  }
}

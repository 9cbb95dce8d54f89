import type { CoveringReading } from "../../runtime/rows/covered-reading.js";
import { CountingReading } from "./counting-reading.js";

/** A {@link CountingReading} that has all rows in memory, in the version that a test says; null for unknown. */
export class VersionedReading extends CountingReading implements CoveringReading {
  version: number | null = 1;

  covers(): boolean {
    return true;
  }

  coveredVersion(): number | null {
    return this.version;
  }
}

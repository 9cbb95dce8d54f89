import type { Runtime } from "../../runtime/runtime.js";
import type { ManualClock } from "./manual-clock.js";
import { until } from "./until.js";

const HOUR_MS = 60 * 60 * 1_000;

/** The record of a workspace's sweeper. */
interface SweeperRecord {
  readonly state: { readonly value: string };
  readonly timers: { readonly pass: number };
}

/** Advances the clock by hours, and then in small steps until the sweeper's next pass has ended. */
export async function passHours(
  { reading }: Pick<Runtime, "reading">,
  workspaceId: string,
  clock: ManualClock,
  hours: number,
): Promise<void> {
  clock.advance(hours * HOUR_MS);
  await until("a pass has ended", () => {
    clock.advance(10);
    const record = reading.get<SweeperRecord>([workspaceId, "actor", "retention", "all"]);
    return record?.state.value === "resting" && record.timers.pass > clock.now();
  });
}

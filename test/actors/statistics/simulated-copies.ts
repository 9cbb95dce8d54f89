import type { Copy } from "../../../actors/statistics/copy.js";
import { createChance } from "../../simulation/chance.js";

const FINEST = 1_000_000;

/** Returns a function that simulates replays of tasks with these success rates (0 to 1), with this many copies each. */
export function simulateCopies(seed: number): (rates: readonly number[], repeats: number) => readonly Copy[] {
  const chance = createChance(seed);
  return (rates, repeats) =>
    rates.flatMap((rate, task) =>
      Array.from({ length: repeats }, (_, index) => ({
        taskId: `t${String(task).padStart(2, "0")}`,
        originalRunId: `r${task}`,
        repeat: index + 1,
        result: chance.between(1, FINEST) <= rate * FINEST ? ("succeeded" as const) : ("failed" as const),
      })),
    );
}

import type { SetHealth } from "../../../../actors/replays/figures/set-health.js";
import type { CopyResult } from "../../../../actors/statistics/copy.js";
import { measureNoise } from "../../../../actors/statistics/noise.js";

/** The health of a set without any measurements. */
export const unmeasured: SetHealth = { noise: null, saturation: null, judge: null, checks: null, oracle: null };

/**
 * Returns the noise of a set with two copies per task. All first copies succeeded, and all second copies except
 * `failed` of them.
 */
export function findNoise(tasks: number, failed: number, minGain: number): SetHealth["noise"] {
  const copies = Array.from({ length: tasks }, (_, task) =>
    [1, 2].map((repeat) => {
      const result: CopyResult = repeat === 2 && task < failed ? "failed" : "succeeded";
      return { taskId: `t${task}`, originalRunId: `r${task}`, repeat, result };
    }),
  ).flat();
  const noise = measureNoise(copies, { repeats: 2, minGain });
  if (noise === null) return null;
  return { ...noise, replayId: "r", fingerprint: "f", repeats: 2, measuredAt: null, tasks, few: tasks < 5 };
}

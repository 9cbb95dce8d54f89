import { readArguments } from "../support/command-line.js";
import { type NoiseReport, noiseScenes, playNoise } from "./noise.js";

const USAGE = `npm run noise -- [--tries 300] [--scene N]

  --tries N  requests that are timed alone, and beside the noise
  --scene N  one scene, from 0; without it all`;

/**
 * `node dist/test/chaos/run-noise.js [--tries 300] [--scene 0]` lets workspaces make noise next to a quiet workspace.
 * Exits with 1 if the noise delays the quiet workspace's requests too much.
 */
const { values } = readArguments(USAGE, {
  options: { tries: { type: "string", default: "300" }, scene: { type: "string" } },
});
const wanted =
  values.scene === undefined ? noiseScenes : noiseScenes.slice(Number(values.scene), Number(values.scene) + 1);

/** Maximum additional latency of the quiet workspace's requests during the noise, in milliseconds. */
const MOST_MORE = { veto: 100, after: 250 };

for (const scene of wanted) {
  const { alone, beside, givenUp } = await playNoise(scene, Number(values.tries));
  console.log(scene.name);
  for (const what of ["veto", "after"] as const) report(what, alone[what], beside[what]);
  if (givenUp.length > 0) console.log(`  given up: ${givenUp.length}, ${[...new Set(givenUp)].join(", ")}`);
}

function report(what: keyof NoiseReport["alone"], alone: readonly number[], beside: readonly number[]): void {
  const more = quantile(beside, 0.99) - quantile(alone, 0.99);
  const isKept = more <= MOST_MORE[what];
  if (!isKept) process.exitCode = 1;
  const ms = (times: readonly number[]) =>
    `${quantile(times, 0.5).toFixed(0)} and ${quantile(times, 0.99).toFixed(0)} ms`;
  console.log(`  ${what}: p50 and p99 alone ${ms(alone)}, beside ${ms(beside)}${isKept ? "" : ": held up"}`);
}

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

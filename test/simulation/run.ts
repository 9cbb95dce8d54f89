import { readArguments } from "../support/command-line.js";
import { simulate } from "./simulate.js";

const USAGE = `npm run sim -- [--seed N] [--seeds 1000] [--from N]

  --seed N   runs one seed, and tells its history
  --seeds N  how many seeds are run
  --from N   the first of them; without it a random one`;

/**
 * `npm run sim` runs 1,000 seeds, starting from a random one. `npm run sim -- --seed N` repeats one seed and prints its
 * history. `--seeds N` sets the number of seeds, and `--from N` the first one. Exits with 1 if a check fails.
 */
const { values } = readArguments(USAGE, {
  options: { seed: { type: "string" }, seeds: { type: "string" }, from: { type: "string" } },
});

if (values.seed !== undefined) await runOne(Number(values.seed));
else await runMany(Number(values.from ?? Math.floor(Math.random() * 2 ** 31)), Number(values.seeds ?? 1_000));

async function runOne(seed: number): Promise<void> {
  const result = await simulate({ seed, keepsLines: true });
  for (const line of result.lines) console.log(line);
  report(seed, result.complaints);
  console.log(`seed ${seed}: ${result.steps} steps, ${result.lives} lives, history ${result.history}`);
}

async function runMany(from: number, count: number): Promise<void> {
  let broken = 0;
  let lives = 0;
  let operations = 0;
  console.log(`simulating ${count} seeds from ${from}`);
  for (let seed = from; seed < from + count; seed++) {
    const result = await simulate({ seed });
    lives += result.lives;
    operations += result.operations;
    if (result.complaints.length > 0) broken += 1;
    report(seed, result.complaints);
  }
  console.log(
    `${count} seeds, ${operations} operations, ${lives} lives of the process, ${broken} seeds with a complaint`,
  );
}

function report(seed: number, complaints: readonly string[]): void {
  if (complaints.length === 0) return;
  process.exitCode = 1;
  console.log(`seed ${seed} broke a promise (run it again: npm run sim -- --seed ${seed})`);
  for (const complaint of complaints) console.log(`  ${complaint}`);
}

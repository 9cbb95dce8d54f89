import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readArguments } from "../support/command-line.js";
import { flipBytes, migratedFixture } from "./flipping.js";

const USAGE = `npm run flips -- [--copies 200] [--seed 1]

  --copies N  copies of a store, with one byte changed in each
  --seed N    which bytes`;

/**
 * `npm run flips` flips one bit in each of 200 store copies, and reads everything in each copy. No read may return a
 * value that was never written. If rows are missing, the doctor must find damage. `--copies` and `--seed` change the
 * defaults. Exits with 1 if a check fails.
 */
const { values } = readArguments(USAGE, {
  options: { copies: { type: "string", default: "200" }, seed: { type: "string", default: "1" } },
});

const cleaning: (() => Promise<unknown>)[] = [];
const { folder, entries } = await migratedFixture({ teardown: (clean) => void cleaning.push(clean) });
const bytes = readFileSync(join(folder, "data.mdb"));
const flips = await flipBytes(join(folder, "copy"), bytes, entries, {
  copies: Number(values.copies),
  seed: Number(values.seed),
});
for (const clean of cleaning) await clean();
const { copies, refused, whole, damaged, lacking, wrong, unnoticed } = flips;
console.log(
  `${copies} copies: ${refused} refused at once, ${damaged} with reads refused, ${lacking} with rows not found, ` +
    `${whole} as before; ${wrong.length} wrong values, ${unnoticed.length} losses that the doctor does not see`,
);
if (wrong.length + unnoticed.length > 0) {
  console.log([...wrong, ...unnoticed.map((at) => `unnoticed at ${at}`)].join("\n"));
  process.exitCode = 1;
}

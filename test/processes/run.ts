import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "../support/command-line.js";
import { Killing } from "./killing.js";

const USAGE = `npm run kills -- [--keys 1000] [--parallel 64] [--kills 50]

  --keys N      resources that are created
  --parallel N  of them at once
  --kills N     times that the process is killed`;

/**
 * `npm run kills` creates 1,000 resources, 64 at once, while the process is killed 50 times; `--keys`, `--parallel` and
 * `--kills` change the numbers. Exits with 1 if a guarantee was violated.
 */
const { values } = readArguments(USAGE, {
  options: {
    keys: { type: "string", default: "1000" },
    parallel: { type: "string", default: "64" },
    kills: { type: "string", default: "50" },
  },
});

const folder = await mkdtemp(join(tmpdir(), "signalbox-kills-"));
const numbers = { keys: Number(values.keys), parallel: Number(values.parallel), kills: Number(values.kills) };
const killing = await Killing.start({ folder, ...numbers });
try {
  const { complaints, ...report } = await killing.run();
  for (const complaint of complaints) console.log(`broken: ${complaint}`);
  console.log(
    `${report.kills} kills: ${report.acknowledged} creates acknowledged, ${report.resources} resources; ` +
      `${report.cut} requests cut, ${report.replayed} answered as repetitions, ` +
      `${report.unanswered} of them made before an answer could leave; ${complaints.length} complaints`,
  );
  if (complaints.length > 0 || report.resources !== numbers.keys) process.exitCode = 1;
} finally {
  await killing.end();
  await rm(folder, { recursive: true, force: true });
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../runtime/clock.js";
import { compactStore } from "../../storage/compaction.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { readArguments, refuseArguments } from "../support/command-line.js";
import { startTestService } from "../support/service.js";
import { countStored, fileBytes, SteadyLoad, type Stored } from "./steady-load.js";

const usage = `npm run plateau -- [--minutes 10] [--hours 48] [--retention 4h]

A steady load (18 secrets, 5 tasks and 2 tokens a second) on a service whose clock runs ahead, 48 hours in ten minutes,
with retention set to hours: what is stored reaches a plateau. Ends with 1 when it does not.`;

const { values } = readArguments(usage, {
  options: {
    minutes: { type: "string", default: "10" },
    hours: { type: "string", default: "48" },
    retention: { type: "string", default: "4h" },
  },
});
for (const name of ["minutes", "hours"] as const) {
  if (!(Number(values[name]) > 0)) refuseArguments(usage, `--${name} takes a number above 0, not ${values[name]}`);
}
if (!/^[1-9]\d{0,4}[hd]$/.test(values.retention)) {
  refuseArguments(usage, `--retention takes hours or days, as 4h or 2d, not ${values.retention}`);
}
const runMs = Number(values.minutes) * 60_000;
const factor = (Number(values.hours) * 60) / Number(values.minutes);
const SAMPLES = 24;
/** How many times as large the last quarter's figure may be as that of the quarter before it. */
const MOST_GROWTH = 1.05;

/** A clock that runs `factor` times as fast as the machine's. */
const begunMs = performance.now();
const firstMs = Date.now();
const clock: Clock = {
  now: () => firstMs + Math.floor((performance.now() - begunMs) * factor),
  at: (atMs, wake) => {
    const timer = setTimeout(wake, Math.max(0, (atMs - clock.now()) / factor));
    return () => clearTimeout(timer);
  },
};

const folder = mkdtempSync(join(tmpdir(), "signalbox-plateau-"));
const ends: (() => Promise<unknown>)[] = [];
try {
  const service = await startTestService(
    { teardown: (end) => ends.unshift(end) },
    {
      folder,
      clock,
      settings: {
        LOG_LEVEL: "info",
        RATE_PER_CREDENTIAL: "0",
        RATE_PER_ADDRESS: "0",
        RETENTION_WORK: values.retention,
        RETENTION_FACTS: values.retention,
        RETENTION_HOOKS: values.retention,
        RETENTION_CHANGES: values.retention,
      },
    },
  );
  const load = await SteadyLoad.begin(service);
  const running = new Set<Promise<void>>();
  let failed = 0;
  let done = 0;
  const every = (perSecond: number, work: () => Promise<void>) => {
    const timer = setInterval(() => {
      const one = work().then(
        () => {
          done += 1;
        },
        () => {
          failed += 1;
        },
      );
      running.add(one);
      void one.finally(() => running.delete(one));
    }, 1_000 / perSecond);
    ends.unshift(async () => clearInterval(timer));
  };
  every(18, () => load.secret());
  every(5, () => load.task());
  every(2, () => load.token());
  const seen: (Stored & { readonly bytes: number })[] = [];
  for (let sample = 1; sample <= SAMPLES; sample++) {
    await new Promise((resolve) => setTimeout(resolve, runMs / SAMPLES));
    const stored = { ...countStored(service.runtime.reading), bytes: fileBytes(folder) };
    seen.push(stored);
    const hours = ((clock.now() - firstMs) / 3_600_000).toFixed(1);
    console.log(
      `${hours} h: ${stored.lasting} rows, ${stored.forADay} more for a day, file ${megabytes(stored.bytes)}; ` +
        `${done} done, ${failed} failed, ${running.size} under way`,
    );
  }
  const quarter = SAMPLES / 4;
  const most = (from: number, what: (stored: Stored & { readonly bytes: number }) => number) =>
    Math.max(...seen.slice(from, from + quarter).map(what));
  for (const [name, what] of [
    ["rows", ({ lasting }: Stored) => lasting],
    ["rows for a day", ({ forADay }: Stored) => forADay],
    ["bytes", ({ bytes }: { readonly bytes: number }) => bytes],
  ] as const) {
    const [third, last] = [most(2 * quarter, what as never), most(3 * quarter, what as never)];
    const isFlat = last <= third * MOST_GROWTH;
    console.log(`${name}: ${third} at most in the third quarter, ${last} in the last${isFlat ? "" : ": grows"}`);
    if (!isFlat) process.exitCode = 1;
  }
  console.log([...(seen.at(-1)?.entries ?? [])].map(([name, count]) => `${name} ${count}`).join(", "));
  for (const end of ends.splice(0)) await end();
  const { beforeBytes, afterBytes } = await compactStore({ folder });
  console.log(`compacted: ${megabytes(beforeBytes)} before, ${megabytes(afterBytes)} after`);
  await (await openLmdbStore({ folder, mustExist: true })).close();
} finally {
  for (const end of ends) await end();
  rmSync(folder, { recursive: true, force: true });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

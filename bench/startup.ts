import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { percentile, type Table } from "./support/table.js";

const ROUNDS = 7;

/** A minimal server, run with `node -e`. */
const BARE = `require("node:http").createServer((_, answer) => answer.end("ok")).listen(0, "127.0.0.1", function () {
  console.log("listening on http://127.0.0.1:" + this.address().port);
});`;

/** The programs to start, as arguments of node. */
const programs: Readonly<Record<string, readonly string[]>> = {
  "bare node": ["-e", BARE],
  "`signalbox serve`, compiled": ["dist/http/cli/main.js", "serve"],
  "`signalbox serve`, bundled": ["http/cli/signalbox.mjs", "serve"],
};

interface Started {
  readonly ms: number;
  readonly cpuMs: number;
  readonly residentMib: number;
}

/**
 * Measures the time from the start of a process until its first answer at /healthz, on an empty store. The programs
 * alternate.
 */
export async function run(): Promise<Table> {
  const starts = new Map<string, Started[]>(Object.keys(programs).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, args] of Object.entries(programs)) starts.get(name)?.push(await start(args));
  }
  const median = (name: string, read: (started: Started) => number): number =>
    percentile((starts.get(name) ?? []).map(read), 0.5);
  const rows = Object.keys(programs).map((name) => {
    const cpuMs = median(name, (started) => started.cpuMs);
    return [
      name,
      Math.round(median(name, (started) => started.ms)),
      Math.round(cpuMs),
      (cpuMs / median("bare node", (started) => started.cpuMs)).toFixed(1),
      Math.round(median(name, (started) => started.residentMib)),
    ];
  });
  return {
    title: "Start",
    note: `From the start of the process to the first 200 of /healthz, on an empty store; medians of ${ROUNDS} starts.`,
    columns: ["process", "ms", "ms of CPU", "of bare node's CPU", "MiB resident"],
    rows,
  };
}

async function start(args: readonly string[]): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const begunMs = performance.now();
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? "", PORT: "0", DATA_DIR: join(folder, "data") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  try {
    for await (const line of createInterface(child.stdout)) {
      const [, url] = /listening on (http:[^"\s]+)/.exec(line) ?? [];
      if (url === undefined) continue;
      const { status } = await fetch(`${url}/healthz`);
      if (status !== 200) throw new Error(`/healthz answered ${status}`);
      return { ms: performance.now() - begunMs, ...usedBy(Number(child.pid)) };
    }
    throw new Error("it ended before it listened");
  } finally {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true });
  }
}

/** Returns the user and system CPU time of all threads, and the resident memory. */
function usedBy(pid: number): Pick<Started, "cpuMs" | "residentMib"> {
  const nanoseconds = readdirSync(`/proc/${pid}/task`)
    .map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]))
    .reduce((sum, each) => sum + each, 0);
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { cpuMs: nanoseconds / 1e6, residentMib: Number(kib) / 1_024 };
}

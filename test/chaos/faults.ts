import { clientFaults } from "./client-faults.js";
import { codeHostFaults } from "./code-host-faults.js";
import type { Fault } from "./fault.js";
import { type Tool, whyMissing } from "./machine-tools.js";
import { receiverFaults } from "./receiver-faults.js";
import { runnerFaults } from "./runner-faults.js";
import { serviceFaults } from "./service-faults.js";
import { trackerFaults } from "./tracker-faults.js";

const faults: readonly Fault[] = [
  ...serviceFaults,
  ...runnerFaults,
  ...receiverFaults,
  ...trackerFaults,
  ...codeHostFaults,
  ...clientFaults,
];

/** Returns the faults that this machine supports, and one line about each fault that it does not support. */
export async function findFaults(): Promise<{
  readonly faults: readonly Fault[];
  readonly skipped: readonly string[];
}> {
  const tools = new Set(faults.flatMap(({ needs }) => (needs === undefined ? [] : [needs])));
  const missing = new Map<Tool, string>();
  for (const tool of tools) {
    const why = await whyMissing(tool);
    if (why !== null) missing.set(tool, why);
  }
  const isThere = ({ needs }: Fault): boolean => needs === undefined || !missing.has(needs);
  return {
    faults: faults.filter(isThere),
    skipped: faults.flatMap((fault) =>
      fault.needs === undefined || isThere(fault) ? [] : [`skipped: ${fault.name}, as ${missing.get(fault.needs)}`],
    ),
  };
}

import { readFileSync } from "node:fs";
import type { LiveLine } from "../../../../http/cli/check/planned-checks.js";
import type { PlannedLine } from "../../../../http/cli/check/planned-line.js";
import { readPlan } from "../../../../http/cli/check/read-plan.js";

/** Terraform's output for a plan of several lines; `test/fixtures/plans` describes how it was made. */
export const planText = readFileSync("test/fixtures/plans/lines.json", "utf8");

interface Change {
  readonly address: string;
  readonly change: { readonly before: unknown };
}

const { resource_changes: changes }: { readonly resource_changes: readonly Change[] } = JSON.parse(planText);

/** Returns the planned line at an address of the plan. */
export function plannedLine(address: string): PlannedLine {
  const found = readPlan(planText, "plan.json").find(({ place }) => place === address);
  if (found === undefined) throw new Error(`the plan has no ${address}`);
  return found;
}

/**
 * Returns a line in its state before the plan, which is the line that the service has. `address` is the line's address
 * in the plan.
 */
export function liveLine(address: string): LiveLine {
  const before = changes.find((each) => each.address === address)?.change.before;
  const camel = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(camel);
    if (typeof value !== "object" || value === null) return value;
    const name = (snake: string) => snake.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [name(key), camel(each)]));
  };
  const line = camel(before) as LiveLine;
  return { ...line, stations: line.stations.map((station) => ({ id: `sta_${station.key}`, ...station })) };
}

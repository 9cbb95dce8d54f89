import type { FittingRunners, Missing } from "./fitting-runners.js";
import type { Placement } from "./placement.js";
import { getLane, type LineRow, WORK_LANE } from "./run-queue.table.js";
import type { RunNeeds } from "./runner.table.js";

/** Maximum number of labels or harnesses in one sentence. */
const NAMES_SHOWN = 10;

/**
 * Returns the reason why no runner can accept the run now, as a sentence for people; null if a runner can accept the
 * run. The cost does not grow with the number of runners, with one exception: for a run that no runner fits, all groups
 * are searched, once after each change of the groups.
 */
export function waitingReason(run: LineRow, placement: Placement): string | null {
  const lane = getLane(run);
  const reason = findReason(run, lane, placement);
  return reason === null || lane === WORK_LANE ? reason : `In the lane ${lane}: ${reason}`;
}

function findReason(run: LineRow, lane: string, placement: Placement): string | null {
  const fitting = placement.fitting(run);
  const { poolId } = fitting.needs;
  const pool = poolId === null ? undefined : placement.pool(poolId);
  if (poolId !== null && pool === undefined) return "The station's runner pool was deleted.";
  const where = pool === undefined ? "of the workspace" : `of pool ${pool.key}`;
  if (fitting.counts.runners === 0) return noneFitsText(run, where, findMissing(fitting, placement));
  if (placement.best(fitting, lane) !== null) return null;
  if (placement.isFull) return `The workspace allows no more than ${placement.rules.maxRuns} runs at once.`;
  if (placement.lanes.isFull(lane)) return `No more than ${placement.lanes.maxClaims(lane)} runs at once are allowed.`;
  return fitting.counts.busy > 0
    ? `Every matching runner ${where} is busy: ${slotsText(fitting)}.`
    : `No more runs at once are allowed ${where}: ${limitsText(fitting, lane, placement)}.`;
}

function noneFitsText({ labels, harness }: LineRow, where: string, { what, had }: Missing): string {
  switch (what) {
    case "runner":
      return `No runner ${where} is connected.`;
    case "labels":
      return `No connected runner ${where} has ${labelsText(labels)}; the connected ones have ${had}.`;
    case "harness":
      return `No connected runner ${where} offers the harness ${harness}; they offer ${had}.`;
    case "features":
      return `Every matching connected runner ${where} has a release that does not support such runs.`;
  }
}

/** Returns the requirement that no runner meets, cached until the groups change. */
function findMissing(fitting: FittingRunners, placement: Placement): Missing {
  const { shape } = placement;
  if (fitting.missing === null || fitting.missing.shape !== shape) {
    fitting.missing = { shape, ...whatIsMissing(fitting.needs, placement) };
  }
  return fitting.missing;
}

function whatIsMissing(needs: RunNeeds, placement: Placement): Missing {
  const connected = placement.groups(needs);
  if (connected.length === 0) return { what: "runner", had: "" };
  const labelled = connected.filter(({ labels }) => needs.labels.every((label) => labels.has(label)));
  if (labelled.length === 0) return { what: "labels", had: named(connected.map(({ labels }) => labels)) };
  return labelled.some(({ harnesses }) => harnesses.has(needs.harness))
    ? { what: "features", had: "" }
    : { what: "harness", had: named(labelled.map(({ harnesses }) => harnesses)) };
}

/**
 * Lists the limits of the fitting runners' pools. Call it only if none of these pools allows another run of the lane.
 */
function limitsText(fitting: FittingRunners, lane: string, placement: Placement): string {
  const texts = fitting.poolIds().map((poolId) => {
    const { key = "", concurrency = null } = placement.pool(poolId) ?? {};
    return lane === WORK_LANE || placement.isAtConcurrency(poolId)
      ? `the concurrency of ${key} is ${concurrency}`
      : `replays, checks and searches may use ${placement.maxBesideWork(poolId)} of the slots of ${key}`;
  });
  return texts.join(", ");
}

function slotsText({ counts }: FittingRunners): string {
  return counts.slots === 0 ? "they are draining" : `${counts.held} of ${counts.slots} slots are in use`;
}

/** Joins the first {@link NAMES_SHOWN} names, sorted, for use in a sentence. */
function named(names: readonly ReadonlySet<string>[]): string {
  const all = [...new Set(names.flatMap((some) => [...some]))].sort();
  if (all.length === 0) return "none";
  const more = all.length - NAMES_SHOWN;
  return all.slice(0, NAMES_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function labelsText(labels: readonly string[]): string {
  return labels.length === 1 ? `the label ${labels[0]}` : `the labels ${labels.join(", ")}`;
}

/**
 * Removes rows whose retention period has passed, `retention/all`, one for each workspace. A pass runs the rules of the
 * catalogue (`actors/catalogue.ts`), then removes rows whose owners were removed. Each slice of a pass is one turn of
 * the actor, and stores the position in the pass. So a crash loses nothing. Before each slice, the sweeper waits for
 * permission to run (`retention.effects.ts`), because only one workspace sweeps at a time. The table calls this
 * permission the workspace's turn.
 *
 * | state    | moved by               | condition            | next     | also                             |
 * |----------|------------------------|----------------------|----------|----------------------------------|
 * | new      | retention.begin        |                      | resting  | wake-up for the first pass       |
 * | resting  | retention.begin        | to be set again      | resting  | wake-up for the next pass        |
 * | resting  | retention.begin        | otherwise            | resting  |                                  |
 * | resting  | woken                  |                      | sweeping | waits for its turn               |
 * | sweeping | effect.ended: its turn | the pass is complete | resting  | wake-up for the next             |
 * | sweeping | effect.ended: its turn | otherwise            | sweeping | a slice; waits for its turn      |
 * | sweeping | woken                  |                      | sweeping | watchdog: if no slice ran since, |
 * |          |                        |                      |          | continues with the next rule     |
 * | sweeping | retention.begin        |                      | sweeping |                                  |
 */
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { createChart, type InTurn } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { reference } from "../../runtime/cells/reference.js";
import type { EffectEnded, Message, Turn, Woken } from "../../runtime/turns/turn.js";
import { clearLeftRows, type OwnedRows } from "./owned-rows.js";
import { markPruned } from "./pruned-before.js";
import { RETENTION_TURN } from "./retention.effects.js";
import type { RetentionPeriods, RetentionRule, WalkPlace } from "./retention.js";
import { SliceBudget } from "./slice-budget.js";

/** Schedules the first pass of a workspace. Does nothing if the pass is already scheduled. */
interface BeginRetention extends Message {
  readonly type: "retention.begin";
  /** True to set the time of the next pass again, because a fast clock had set it. */
  readonly isAnew?: true;
}

/** The sweeper of a workspace. */
export const retentionRef = reference<BeginRetention, [workspaceId: string]>("retention", (workspaceId) => [
  workspaceId,
  "all",
]);

/** The rules and owned rows that sweepers process. */
export interface RetentionCatalogue {
  readonly rules: readonly RetentionRule[];
  readonly owned: readonly OwnedRows[];
}

/**
 * The position of a pass: a rule, and the position in the rule's walk. A null `rule` means the owned rows, which come
 * after all rules.
 */
interface PassPlace {
  readonly rule: string | null;
  readonly from: WalkPlace;
}

interface SweeperContext {
  /** Null after the end of the pass. */
  readonly at: PassPlace | null;
  /** Whether a slice ran since the last wake-up. */
  readonly isMoving: boolean;
  /** The id of the effect that waits for the next turn, or of the last such effect. */
  readonly turnId: string;
}

/**
 * Maximum number of rows to read or remove in one turn, and maximum size of these rows in bytes (approximately). A turn
 * with such a slice takes some milliseconds.
 */
const SLICE = { rows: 128, bytes: 1_000_000 };
/** Maximum time between two passes, in milliseconds. If a retention period is shorter, passes run more often. */
const PASS_EVERY_MS = 60 * 60 * 1_000;
const PASSES_A_PERIOD = 8;
/** Name of the wake-up for passes. */
export const PASS = "pass";
/** Maximum random variation of the time between passes, as a fraction of this time. */
const SPREAD = 0.25;
/** Maximum time until a scheduled pass, in milliseconds. */
export const LONGEST_REST_MS = PASS_EVERY_MS * (1 + SPREAD);

const { on, choose, machine } = createChart<SweeperContext, BeginRetention | Woken | EffectEnded>();

/** Creates the sweeper for this catalogue and these periods. */
export function retentionSweeperActor(catalogue: RetentionCatalogue, periods: RetentionPeriods): ActorType {
  const sweeping = new Sweeping(catalogue, periods);
  const rest = ({ turn }: InTurn): void => sweeping.wake(turn);
  const retentionMachine = machine({
    id: "retention",
    context: { at: null, isMoving: false, turnId: "" },
    initial: "new",
    states: {
      new: { on: on("retention.begin", "resting", rest) },
      resting: {
        on: {
          ...choose("retention.begin", { when: ({ isAnew }) => isAnew === true, act: rest }, {}),
          ...on("woken", "sweeping", ({ turn }) => {
            sweeping.wake(turn);
            return { at: sweeping.begin(), isMoving: true, turnId: awaitTurn(turn) };
          }),
        },
      },
      sweeping: {
        on: {
          ...choose(
            "effect.ended",
            { when: (_event, { at }) => at === null, to: "resting", act: rest },
            {
              act: ({ turn }, { at }) => ({
                at: sweeping.slice(turn, at),
                isMoving: true,
                turnId: awaitTurn(turn),
              }),
            },
          ),
          ...on("retention.begin"),
          ...on("woken", ({ turn }, { at, isMoving, turnId }) => {
            sweeping.wake(turn);
            turn.cancelEffect(turnId);
            return { at: isMoving ? at : sweeping.skip(at), isMoving: false, turnId: awaitTurn(turn) };
          }),
        },
      },
    },
  });
  return defineActor(retentionRef, { machine: retentionMachine, version: 1 });
}

/** Starts the effect that waits for the workspace's turn to remove rows. Returns the effect's id. */
function awaitTurn(turn: Turn): string {
  const id = turn.newId("turn");
  turn.start(RETENTION_TURN.request(id, null));
  return id;
}

/** Runs passes through the catalogue, slice by slice. Holds no state of a pass. */
class Sweeping {
  readonly #catalogue: RetentionCatalogue;
  readonly #periods: RetentionPeriods;
  readonly #everyMs: number;

  constructor(catalogue: RetentionCatalogue, periods: RetentionPeriods) {
    this.#catalogue = catalogue;
    this.#periods = periods;
    this.#everyMs = Math.min(PASS_EVERY_MS, Math.min(...Object.values(periods)) / PASSES_A_PERIOD);
  }

  /** Schedules the next pass after a partly random time. So workspaces do not wake up together, even after downtime. */
  wake(turn: Turn): void {
    turn.wake(PASS, turn.now + this.#everyMs * (1 - SPREAD + turn.random() * 2 * SPREAD));
  }

  begin(): PassPlace {
    return { rule: this.#catalogue.rules[0]?.name ?? null, from: null };
  }

  /** Returns the start of the next rule, or of the owned rows after the last rule; null after the owned rows. */
  skip(at: PassPlace | null): PassPlace | null {
    if (at === null || at.rule === null) return null;
    const { rules } = this.#catalogue;
    const index = rules.findIndex(({ name }) => name === at.rule);
    return { rule: rules[index + 1]?.name ?? null, from: null };
  }

  /** Runs one slice of the pass. Returns the new position; null at the end of the pass. */
  slice(turn: Turn, at: PassPlace | null): PassPlace | null {
    if (at === null) return null;
    const budget = new SliceBudget(SLICE);
    let place = at;
    let all = 0;
    while (place.rule !== null) {
      const rule = this.#catalogue.rules.find(({ name }) => name === place.rule);
      // Restart the pass if the running release does not have the stored rule.
      if (rule === undefined) return this.begin();
      const cutoffMs = turn.now - this.#periods[rule.period];
      const { next, removed } = rule.sweep(turn, { cutoffMs, from: place.from, budget });
      if (removed > 0) markPruned(turn, rule.name, cutoffMs);
      all += removed;
      place = next === undefined ? (this.skip(place) ?? place) : { rule: rule.name, from: next };
      if (budget.isSpent) return place;
      // The slice sent removal messages to actors. These actors must remove their rows in their own turns first, so the
      // next slice continues at this position.
      if (place.rule === null && all > 0) return place;
    }
    return clearLeftRows(turn, this.#catalogue.owned, budget) ? null : place;
  }
}

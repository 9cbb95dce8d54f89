/**
 * Removes what a workspace stores too long, `retention/all`, one for each workspace. A pass goes through the rules of the
 * catalogue (`retained-tables.ts`) and then through rows whose owners were removed. Each slice of it is one turn; before
 * each it waits for its place among the workspaces. Where it is is stored with each slice, so a kill loses none.
 *
 * | state    | moved by                     | condition            | next     | also                                   |
 * |----------|------------------------------|----------------------|----------|----------------------------------------|
 * | new      | retention.begin              |                      | resting  | wake-up for the first pass             |
 * | resting  | retention.begin              | it is to be anew     | resting  | wake-up for the next pass              |
 * | resting  | the same                     | otherwise            | resting  |                                        |
 * | resting  | woken                        |                      | sweeping | waits for its place                    |
 * | sweeping | effect.ended: it has a place | the pass is over     | resting  | wake-up for the next                   |
 * | sweeping | the same                     | otherwise            | sweeping | a slice; waits for its place           |
 * | sweeping | woken                        |                      | sweeping | watches: without a slice since, goes   |
 * |          |                              |                      |          | on with the next rule                  |
 * | sweeping | retention.begin              |                      | sweeping |                                        |
 */
import type { ActorType } from "../../runtime/actor-type.js";
import { chartOf, type InTurn } from "../../runtime/chart.js";
import { defineActor } from "../../runtime/define-actor.js";
import { reference } from "../../runtime/reference.js";
import type { EffectEnded, Message, Turn, Woken } from "../../runtime/turn.js";
import { clearLeftRows, type OwnedRows } from "./owned-rows.js";
import { markPruned } from "./pruned-before.js";
import { RETENTION_TURN } from "./retention.effects.js";
import type { RetentionPeriods, RetentionRule, WalkPlace } from "./retention.js";
import { SliceBudget } from "./slice-budget.js";

/** Sets the first pass of a workspace; does nothing when it was set before. */
interface BeginRetention extends Message {
  readonly type: "retention.begin";
  /** The next pass was set by a clock that was ahead, and is set anew. */
  readonly isAnew?: true;
}

/** The sweeper of a workspace. */
export const retentionRef = reference<BeginRetention, [workspaceId: string]>("retention", (workspaceId) => [
  workspaceId,
  "all",
]);

/** What sweepers go through. */
export interface RetentionCatalogue {
  readonly rules: readonly RetentionRule[];
  readonly owned: readonly OwnedRows[];
}

/** Where a pass is: in the walk of a rule; `null` stands for the rows that are left, after all rules. */
interface PassPlace {
  readonly rule: string | null;
  readonly from: WalkPlace;
}

interface SweeperContext {
  /** Null when the pass is over. */
  readonly at: PassPlace | null;
  /** Whether a slice was taken since the last wake-up. */
  readonly isMoving: boolean;
  /** The id of the effect that waits for a place, or of the last one. */
  readonly turnId: string;
}

/** Most rows read or removed in one turn, and about how many bytes of them: some milliseconds. */
const SLICE = { rows: 128, bytes: 1_000_000 };
/** Longest time between two passes, in milliseconds. A shorter setting has more of them. */
const PASS_EVERY_MS = 60 * 60 * 1_000;
const PASSES_A_PERIOD = 8;
/** The wake-up of passes. */
export const PASS = "pass";
/** Passes come with this share of their time more or less. */
const SPREAD = 0.25;
/** Longest time that a pass is set ahead, in milliseconds. */
export const LONGEST_REST_MS = PASS_EVERY_MS * (1 + SPREAD);

const { on, choose, machine } = chartOf<SweeperContext, BeginRetention | Woken | EffectEnded>();

/** The sweepers of these tables. */
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

/** Waits for a place in the lane; returns the id of the effect. */
function awaitTurn(turn: Turn): string {
  const id = turn.newId("turn");
  turn.start(RETENTION_TURN.request(id, null));
  return id;
}

/** A pass through the catalogue, as pure steps. */
class Sweeping {
  readonly #catalogue: RetentionCatalogue;
  readonly #periods: RetentionPeriods;
  readonly #everyMs: number;

  constructor(catalogue: RetentionCatalogue, periods: RetentionPeriods) {
    this.#catalogue = catalogue;
    this.#periods = periods;
    this.#everyMs = Math.min(PASS_EVERY_MS, Math.min(...Object.values(periods)) / PASSES_A_PERIOD);
  }

  /** Sets the next wake-up. Workspaces do not wake together, also after time without a service. */
  wake(turn: Turn): void {
    turn.wake(PASS, turn.now + this.#everyMs * (1 - SPREAD + turn.random() * 2 * SPREAD));
  }

  begin(): PassPlace {
    return { rule: this.#catalogue.rules[0]?.name ?? null, from: null };
  }

  /** The beginning of the next rule; null after the last. */
  skip(at: PassPlace | null): PassPlace | null {
    if (at === null || at.rule === null) return null;
    const { rules } = this.#catalogue;
    const index = rules.findIndex(({ name }) => name === at.rule);
    return { rule: rules[index + 1]?.name ?? null, from: null };
  }

  /** Removes a slice; returns where the pass is then, null at its end. */
  slice(turn: Turn, at: PassPlace | null): PassPlace | null {
    if (at === null) return null;
    const budget = new SliceBudget(SLICE);
    let place = at;
    let all = 0;
    while (place.rule !== null) {
      const rule = this.#catalogue.rules.find(({ name }) => name === place.rule);
      // A later release may lack the rule: the pass begins anew.
      if (rule === undefined) return this.begin();
      const cutoffMs = turn.now - this.#periods[rule.period];
      const { next, removed } = rule.sweep(turn, { cutoffMs, from: place.from, budget });
      if (removed > 0) markPruned(turn, rule.name, cutoffMs);
      all += removed;
      place = next === undefined ? (this.skip(place) ?? place) : { rule: rule.name, from: next };
      if (budget.isSpent) return place;
      // Actors that were told remove their rows in turns of their own.
      if (place.rule === null && all > 0) return place;
    }
    return clearLeftRows(turn, this.#catalogue.owned, budget) ? null : place;
  }
}

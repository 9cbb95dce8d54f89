import { add, type Fraction, fraction, fromText, multiply, subtract, toText, ZERO } from "../fraction.js";
import { addMoney, amountIn, boundMoney, type Money } from "../money.js";
import { reachesCeiling, unpricedRun } from "../statistics/spending.js";
import type { ReplayCopyRow, ReplayRow, ReplaySpending } from "./replay.js";

/**
 * What counts against the ceiling of a replay: what its copies reported, what was spent besides, and once a share of the
 * ceiling for each copy that did not report its cost (`statistics/spending.ts`).
 */
export function countSpent(replay: ReplayRow): Fraction {
  const { spent, besides, unpriced } = replay.spending;
  const known = add(fromText(spent), fromText(besides));
  return unpriced === 0 ? known : add(known, multiply(fraction(unpriced), unpricedRun(replay)));
}

/** The ceiling of a search for all it does, and what counts against it beside one of its replays. */
export interface PurseLeft {
  readonly ceiling: Money;
  readonly others: Fraction;
}

/** Whether no more copies are started that have not run. `purse` is null for a replay of no search. */
export function isAtCeiling(replay: ReplayRow, purse: PurseLeft | null): boolean {
  return !mayStart(replay, { priced: true }, purse);
}

/**
 * Whether an attempt of a copy may start: what the rest counts is below the ceiling. A copy whose runner was lost, and
 * which counts its share of the ceiling since, counts no second one: its own share does not keep it from starting again.
 * A replay of a search has room while its own ceiling and that of the search have.
 */
export function mayStart(
  replay: ReplayRow,
  { priced }: Pick<ReplayCopyRow, "priced">,
  purse: PurseLeft | null,
): boolean {
  const own = priced ? ZERO : unpricedRun(replay);
  const rest = subtract(countSpent(replay), own);
  return (
    !reachesCeiling(rest, replay.ceiling) && (purse === null || !reachesCeiling(add(rest, purse.others), purse.ceiling))
  );
}

/**
 * The spending of a replay after a copy changed: itself where the copy cost nothing more, so that neither it nor a purse
 * is computed anew for each copy that is queued or taken.
 */
export function addSpending(
  spending: ReplaySpending,
  currency: string,
  { before, after }: { readonly before: ReplayCopyRow; readonly after: ReplayCopyRow },
): ReplaySpending {
  if (after.spent === before.spent && after.priced === before.priced) return spending;
  const more = subtract(amountIn(after.spent, currency), amountIn(before.spent, currency));
  return {
    ...spending,
    spent: toText(add(fromText(spending.spent), more)),
    unpriced: spending.unpriced + Number(before.priced) - Number(after.priced),
  };
}

/** What a copy spent after another attempt: the sum in the ceiling's currency, or what was first reported in another. */
export function addReported(before: Money | null, more: Money | null, currency: string): Money | null {
  if (before === null || more === null) return boundMoney(before ?? more);
  if (more.currency !== currency) return boundMoney(before);
  if (before.currency !== currency) return boundMoney(more);
  return addMoney(before, more);
}

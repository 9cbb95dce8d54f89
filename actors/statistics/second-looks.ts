import { compare, fraction, toNumber } from "../fraction.js";

export type LookResult = "passed" | "failed";

/** A change that a checking baseline looked at again: judged or checked twice. */
export interface TwoLooks {
  /** Null when it came to no verdict, as the second. */
  readonly first: LookResult | null;
  /** Null also when none was asked for. */
  readonly second: LookResult | "pending" | null;
}

/** Below it a judge is unstable (document 2, "Limits": second-judging threshold). */
const STABLE_FROM = fraction(8, 10);

/** How alike a judge judges the same change twice (document 2, "Set health": `judge`). */
export interface JudgeAgreement {
  /** The changes with two verdicts, those of them with the same one twice, and those whose second is still to come. */
  readonly compared: number;
  readonly agreed: number;
  readonly pending: number;
  /** Agreed out of compared, from 0 to 1; null before any is compared. */
  readonly agreement: number | null;
  readonly unstable: boolean;
}

export function judgeAgreement(judgings: readonly TwoLooks[]): JudgeAgreement {
  const compared = judgings.filter(isLookedAtTwice);
  const agreed = compared.filter(({ first, second }) => first === second);
  const agreement = compared.length === 0 ? null : fraction(agreed.length, compared.length);
  return {
    compared: compared.length,
    agreed: agreed.length,
    pending: countPending(judgings),
    agreement: agreement === null ? null : toNumber(agreement),
    unstable: agreement !== null && compare(agreement, STABLE_FROM) < 0,
  };
}

/** Which changes a station's check passes once and fails once (document 2, "Set health": `checks`). */
export interface CheckFlakiness<Each extends TwoLooks> {
  readonly rechecked: number;
  readonly pending: number;
  readonly flaky: readonly Each[];
}

export function checkFlakiness<Each extends TwoLooks>(checks: readonly Each[]): CheckFlakiness<Each> {
  const rechecked = checks.filter(isLookedAtTwice);
  const flaky = rechecked.filter(({ first, second }) => first !== second);
  return { rechecked: rechecked.length, pending: countPending(checks), flaky };
}

function isLookedAtTwice({ first, second }: TwoLooks): boolean {
  return first !== null && second !== null && second !== "pending";
}

function countPending(looks: readonly TwoLooks[]): number {
  return looks.filter(({ first, second }) => first !== null && second === "pending").length;
}

import { compare, fraction, toNumber } from "../fraction.js";

export type LookResult = "passed" | "failed";

/** The results of the first and the second judging of a change, or of the first and the second check. */
export interface TwoLooks {
  /** Null if the first judging or check had no verdict. */
  readonly first: LookResult | null;
  /** Null if the second judging or check had no verdict, or was not requested. */
  readonly second: LookResult | "pending" | null;
}

/** Below this agreement a judge is unstable (document 2, "Limits": second-judging threshold). */
const STABLE_FROM = fraction(8, 10);

/** How often a judge gives the same verdict on the same change twice (document 2, "Set health": `judge`). */
export interface JudgeAgreement {
  /** Three numbers of changes: with two verdicts, with two equal verdicts, and with a pending second verdict. */
  readonly compared: number;
  readonly agreed: number;
  readonly pending: number;
  /** `agreed` divided by `compared`, from 0 to 1; null if `compared` is 0. */
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

/** The changes that a station's check passes once and fails once (document 2, "Set health": `checks`). */
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

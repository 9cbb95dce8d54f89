import { compare, decimal, fraction, multiply } from "../fraction.js";
import type { StationBody } from "../lines/station.js";

/** A station's judge settings. */
export type Judge = NonNullable<StationBody["judge"]>;

/** A judge with claims uses the scale `claims`, whatever the scale of its rubric. */
export type JudgeScale = "yes-no" | "number" | "claims";

/** Default minimum score to pass on the scale `number`. */
const DEFAULT_PASS_SCORE = 4;
/** Default share of claims that must be met. */
const DEFAULT_PASS_SHARE = 1;

export function toScale({ scale, claims }: Pick<Judge, "scale" | "claims">): JudgeScale {
  return claims.length > 0 ? "claims" : scale;
}

/** Whether a score from 1 to 5 passes. */
export function passesScore({ passScore }: Pick<Judge, "passScore">, score: number): boolean {
  return score >= (passScore ?? DEFAULT_PASS_SCORE);
}

/** Whether enough claims are met. The comparison is exact: 7 of 10 are a share of 0.7. */
export function passesShare(judge: Pick<Judge, "passShare">, met: number, claims: number): boolean {
  return compare(fraction(met), multiply(decimal(toPassShare(judge)), fraction(claims))) >= 0;
}

/** The share of claims that must be met. */
export function toPassShare({ passShare }: Pick<Judge, "passShare">): number {
  return passShare ?? DEFAULT_PASS_SHARE;
}

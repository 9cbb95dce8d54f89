/** How alike a judge judged the same changes twice. */
export interface JudgeAgreement {
  /** Changes judged twice, both times with a verdict. */
  readonly compared: number;
  /** Those that passed both times, or neither. */
  readonly agreed: number;
  /** Second judgings that are still to come. */
  readonly pending: number;
  /** Agreed of compared; null when none is compared. */
  readonly agreement: number | null;
  /** Whether that is below four fifths. */
  readonly unstable: boolean;
}

/** A change that is to be judged twice. `passed` is null without a verdict. */
export interface TwiceJudged {
  readonly first: { readonly passed: boolean | null };
  /** Null while it is still to come. */
  readonly second: { readonly passed: boolean | null } | null;
}

/** The agreement over changes that got a first verdict; others are not judged again. */
export function toAgreement(changes: readonly TwiceJudged[]): JudgeAgreement {
  const judged = changes.filter(({ first }) => first.passed !== null);
  const compared = judged.filter(({ second }) => second !== null && second.passed !== null);
  const agreed = compared.filter(({ first, second }) => first.passed === second?.passed).length;
  return {
    ...{ compared: compared.length, agreed, pending: judged.filter(({ second }) => second === null).length },
    agreement: compared.length === 0 ? null : agreed / compared.length,
    unstable: agreed * 5 < compared.length * 4,
  };
}

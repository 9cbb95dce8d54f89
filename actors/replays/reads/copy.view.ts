import { boundMoney, type Money } from "../../money.js";
import { defineView } from "../../view.js";
import type { ReplayCopyRow } from "../replay/replay.js";
import {
  type CheckView,
  type CopyView,
  copySchema,
  type JudgeView,
  type ListedCopyView,
  listedCheckSchema,
  listedCopySchema,
  listedJudgeSchema,
  listedPairSchema,
  listedReadingSchema,
  type PairView,
} from "./copy-schemas.js";

/** A copy with the other data that its view shows. */
export interface CopyParts {
  readonly copy: ReplayCopyRow;
  /** The title of the task. */
  readonly title: string;
  readonly check: CheckView | null;
  readonly judge: JudgeView;
  readonly secondJudge: JudgeView | null;
  readonly rejudgingSpent: Money | null;
  readonly recheck: CheckView | null;
  readonly pair: PairView | null;
  readonly pairingSpent: Money | null;
}

const common = {
  title: (_copy: ReplayCopyRow, { title }: CopyParts) => title,
  rejudgingSpent: (_copy: ReplayCopyRow, { rejudgingSpent }: CopyParts) => rejudgingSpent,
  pairingSpent: (_copy: ReplayCopyRow, { pairingSpent }: CopyParts) => pairingSpent,
  spent: ({ spent }: ReplayCopyRow) => boundMoney(spent),
};

const showCopy = defineView<ReplayCopyRow, CopyParts>()(copySchema, {
  ...common,
  check: (_copy, { check }) => check,
  judge: (_copy, { judge }) => judge,
  secondJudge: (_copy, { secondJudge }) => secondJudge,
  recheck: (_copy, { recheck }) => recheck,
  pair: (_copy, { pair }) => pair,
});

const listCheck = defineView<CheckView>()(listedCheckSchema, {});
const listJudge = defineView<JudgeView>()(listedJudgeSchema, {});
const listReading = defineView<PairReading>()(listedReadingSchema, {});
const listPair = defineView<PairView>()(listedPairSchema, {
  readings: ({ readings }) => readings?.map(listReading) ?? null,
});

const showListedCopy = defineView<ReplayCopyRow, CopyParts>()(listedCopySchema, {
  ...common,
  check: (_copy, { check }) => check && listCheck(check),
  judge: (_copy, { judge }) => listJudge(judge),
  secondJudge: (_copy, { secondJudge }) => secondJudge && listJudge(secondJudge),
  recheck: (_copy, { recheck }) => recheck && listCheck(recheck),
  pair: (_copy, { pair }) => pair && listPair(pair),
});

type PairReading = NonNullable<PairView["readings"]>[number];

/** Shows the copy with its outputs, reasons and claims. */
export function copyView(parts: CopyParts): CopyView {
  return showCopy(parts.copy, parts);
}

/** Shows the copy for lists of replays and for the stream: without outputs, reasons and claims. */
export function listedCopyView(parts: CopyParts): ListedCopyView {
  return showListedCopy(parts.copy, parts);
}

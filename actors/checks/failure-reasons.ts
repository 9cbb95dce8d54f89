import type { Reading } from "../../storage/store.js";
import { firstBytes, lastBytes } from "../replays/figures/excerpt.js";
import { replayVerdicts } from "../replays/judging/replay-verdict.table.js";
import type { RegressedTask } from "./check-result.table.js";
import type { SideCopy } from "./check-sides.js";

/** Most reasons of a regressed task, and most bytes of each. */
const MAX_REASONS = 5;
const REASON_BYTES = 500;

type Reasons = RegressedTask["reasons"];

/** Why copies failed, each reason once, in the order of the copies. */
export function listReasons(reading: Reading, workspaceId: string, copies: readonly SideCopy[]): Reasons {
  const failed = copies.filter(({ result }) => result === "failed");
  const reasons = failed.flatMap((copy) => reasonsOf(reading, workspaceId, copy));
  const distinct = new Map(reasons.map((reason) => [`${reason.code} ${reason.detail}`, reason]));
  return [...distinct.values()].slice(0, MAX_REASONS);
}

/** A failed check says what it printed last, a judge why it did not pass the change; else there is a sentence. */
function reasonsOf(reading: Reading, workspaceId: string, copy: SideCopy): Reasons {
  if (copy.why === null) return [];
  const { code, text } = copy.why;
  if (code === "judge-failed") {
    const judged = judgedReasons(reading, workspaceId, copy);
    if (judged.length > 0) return judged.map((said) => ({ code, detail: firstBytes(said, REASON_BYTES) }));
  }
  const printed = code === "check-failed" ? (copy.check?.tail.trim() ?? "") : "";
  return [{ code, detail: printed === "" ? firstBytes(text, REASON_BYTES) : lastBytes(printed, REASON_BYTES) }];
}

/** What the judge said; of claims, only of those that are not met. */
function judgedReasons(
  reading: Reading,
  workspaceId: string,
  { replayId, place, repeat }: SideCopy,
): readonly string[] {
  const verdict = replayVerdicts.get(reading, workspaceId, replayId, place, repeat, "first")?.verdict ?? null;
  const said = verdict?.reasons.brief ?? [];
  return said.filter(({ claim }) => claim === null || verdict?.marks?.[claim] !== true).map(({ text }) => text);
}

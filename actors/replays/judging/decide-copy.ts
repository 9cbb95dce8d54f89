import { addMoney, type Money } from "../../money.js";
import type { ReplayCopyRow, ReplayRow } from "../replay.js";
import { replayCopies } from "../replay-copy.table.js";
import { countChanges } from "../replay-step.js";
import { changeReplay, getCopy, getReplay, type JudgingScene } from "./judging-scene.js";
import type { ReplayVerdictRow } from "./replay-verdict.table.js";
import { recount } from "./spending.js";

/** Gives a copy its result once its first judging is over, and what that cost to what the copy spent. */
export function decideCopy(scene: JudgingScene, row: ReplayVerdictRow): void {
  const { turn } = scene;
  const before = getCopy(scene, row);
  const cost = toCopyCost(getReplay(scene), before, row.spent.cost);
  const spent = cost === null || before.spent === null ? (cost ?? before.spent) : addMoney(before.spent, cost);
  const after: ReplayCopyRow = { ...before, ...toResult(row), state: "judged", spent };
  replayCopies.put(turn, turn.self.partition, before, after);
  changeReplay(scene, (replay) => recount(countChanges(replay, [{ before, after }]), cost, null));
}

/** A first judging is part of what its copy spent where both are in the ceiling's currency; else it counts beside. */
function toCopyCost({ ceiling }: ReplayRow, { spent }: ReplayCopyRow, cost: Money | null): Money | null {
  const { currency } = ceiling;
  return cost?.currency === currency && (spent ?? cost).currency === currency ? cost : null;
}

function toResult({ verdict, none }: ReplayVerdictRow): Pick<ReplayCopyRow, "result" | "why"> {
  if (verdict?.passed === true) return { result: "succeeded", why: null };
  if (verdict !== null) return { result: "failed", why: { code: "judge-failed", text: "The judge did not pass it." } };
  return { result: "unscored", why: none };
}

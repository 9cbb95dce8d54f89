import t from "tap";
import { type StandingDecision, standingDecisions } from "../../../actors/decisions/decision.table.js";
import { listStandingDecisions } from "../../../actors/decisions/decision.view.js";
import type { Cursor, Slice } from "../../../actors/tables/page-source.js";
import { countingRows } from "../../support/counting-rows.js";
import { memoryRows } from "../../support/turn.js";

const workspaceId = "ws_1";

t.test("the few decisions that a reader may see among many fill one page, slice by slice", async (t) => {
  const rows = countingRows(memoryRows());
  const seen = [2, 3, 1_999];
  for (let n = 0; n < 2_500; n++) {
    const id = `dec_${String(n).padStart(4, "0")}`;
    const teamId = seen.includes(n) ? "team_seen" : "team_other";
    const of = { taskId: "task_1", repository: "acme/app", url: "", paths: [] };
    standingDecisions.insert(rows, workspaceId, { id, mergedAtMs: 1_000 + (n >> 2), teamId, ...of });
  }
  const seesTeam = (teamId: string) => teamId === "team_seen";
  const filter = { repository: "acme/app", path: undefined, sinceMs: undefined, untilMs: undefined, seesTeam };
  const found: StandingDecision[] = [];
  let [slices, most] = [0, 0];
  let cursor: Cursor<StandingDecision> | null = null;
  do {
    rows.reset();
    const page = { after: null, limit: 3, cursor };
    const slice: Slice<StandingDecision> = listStandingDecisions(rows, workspaceId, filter, page);
    found.push(...slice.rows);
    [slices, most] = [slices + 1, Math.max(most, rows.read)];
    cursor = slice.next;
  } while (cursor !== null);
  t.same(
    found.map(({ id }) => id),
    ["dec_1999", "dec_0003", "dec_0002"],
  );
  t.ok(slices > 5 && most < 500, `${slices} slices, ${most} rows at most`);
});

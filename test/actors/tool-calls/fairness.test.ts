import t from "tap";
import { integrationCallLane } from "../../../actors/outbound/http/lanes.js";
import { ToolCallWorld } from "../../support/tool-call-world.js";

/** Number of runs in the workspace that makes many calls at once. Each run has the maximum number of open calls. */
const RUNS = 8;
const CALLS = 32;

/** Returns the duration of a call in the quiet workspace, in milliseconds of simulated time. */
async function callAlone(world: ToolCallWorld): Promise<number> {
  const begunMs = world.harness.world.nowMs;
  void world.say("ws_2", world.called("run_1", "quiet", "note", { text: "Hi" }));
  for (let steps = 0; world.calls("ws_2")[0]?.state !== "done"; steps++) {
    if (steps > 1_000) throw new Error("it is never done");
    await world.harness.advance(1);
  }
  return world.harness.world.nowMs - begunMs;
}

t.test("a workspace whose calls hang by the hundred leaves another's calls fast", async (t) => {
  const answers = ({ workspaceId }: { readonly workspaceId: string }) => (workspaceId === "ws_2" ? 5 : null);
  const alone = await callAlone(await ToolCallWorld.open({ runs: { ws_2: 1 }, answers }));
  const world = await ToolCallWorld.open({ runs: { ws_1: RUNS, ws_2: 1 }, answers });
  for (let run = 1; run <= RUNS; run++) {
    for (let n = 0; n < CALLS; n++) {
      void world.say("ws_1", world.called(`run_${run}`, `${run} ${n}`, "note", { text: `${n}` }));
    }
  }
  await world.harness.advance(1_000);
  const open = Array.from({ length: RUNS }, (_, run) => world.calls("ws_1", `run_${run + 1}`)).flat();
  t.equal(open.filter(({ state }) => state === "running").length, RUNS * CALLS);
  t.equal(world.requests.length, integrationCallLane.perTarget, "its host has so many at once, the others wait");
  const beside = await callAlone(world);
  t.ok(beside < 2 * alone, `${beside} ms beside calls that never end, ${alone} ms alone`);
});

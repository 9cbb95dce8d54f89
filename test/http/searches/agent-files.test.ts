import t from "tap";
import { isRefusal } from "../../../actors/refusal.js";
import { getFile, listFiles } from "../../../http/searches/agent-files.js";
import { AgentScene } from "../../actors/searches/agent/agent-scene.js";
import { workspaceId } from "../../support/work.js";

/** Tests the list of a search agent's files, and the limits of the list. */

async function listed(scene: AgentScene, bounds: { readonly maxBytes?: number; readonly maxFiles?: number } = {}) {
  let pauses = 0;
  const pause = async () => {
    pauses += 1;
  };
  const list = await listFiles(scene.rows, { workspaceId, iteration: scene.iteration }, { pause, ...bounds });
  if (isRefusal(list)) throw new Error("there is no list");
  return { ...list, pauses };
}

t.test("what there is no room for is left out and counted; smaller files behind it are there", async (t) => {
  const scene = new AgentScene({ texts: { diff: `+${"x".repeat(200_000)}\n` } });
  const whole = await listed(scene);
  t.equal(whole.leftOut, 0);
  t.equal(whole.pauses, whole.files.length, "other work goes between any two");
  const few = await listed(scene, { maxBytes: 300_000 });
  const kept = few.files.map(({ path }) => path);
  t.equal(few.files.length + few.leftOut, whole.files.length);
  t.same([few.leftOut, kept.filter((path) => path.endsWith(".diff")).length], [3, 1]);
  t.equal(kept.filter((path) => path.endsWith(".json")).length, 9);
  t.ok(few.files.reduce((sum, { bytes }) => sum + bytes, 0) <= 300_000);
});

t.test("of more files than may be the first are listed, and the rest is counted", async (t) => {
  const { files, leftOut } = await listed(new AgentScene(), { maxFiles: 5 });
  t.same(
    files.map(({ file }) => file),
    ["brief", "candidate.cand_0", "candidate.cand_1", "task.task_1", "task.task_2"],
  );
  t.equal(leftOut, 8);
});

t.test("a search that is gone, and what is no name of a file, is not found", async (t) => {
  const scene = new AgentScene();
  const shown = { workspaceId, iteration: scene.iteration };
  const gone = { workspaceId, iteration: { ...scene.iteration, searchId: "search_9" } };
  const nothing = { refused: "not-found" };
  t.same(await listFiles(scene.rows, gone, { pause: async () => undefined }), nothing);
  t.same([getFile(scene.rows, gone, "brief"), getFile(scene.rows, shown, "../brief")], [nothing, nothing]);
  t.match(getFile(scene.rows, shown, "brief"), { path: "brief.json" });
});

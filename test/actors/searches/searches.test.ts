import t from "tap";
import { SearchWorld } from "../../support/search-world.js";

t.test("a search replays what its agent proposes, confirms the best on held-out runs, and ends", async (t) => {
  const scene = await SearchWorld.open({ runs: 10 });
  const started = await scene.start();
  t.match(started, { objective: "success", replayed: false, seedReplayId: scene.search().seedReplayId });
  t.match(scene.search(), { state: "seeding", ending: null, best: null });
  t.equal(await scene.workAll({ copy: ({ candidate }) => ({ succeeds: candidate.startsWith("try") }) }), 44);
  const best = { name: "try-1", searchScore: 1, heldOutScore: 1, onlyOnSeenTasks: "too-few-held-out" };
  t.match(scene.search(), { state: "finished", ending: "iterations-used", best, iterationsRun: 2, proposed: 4 });
  t.match(scene.purse(), { counted: "44/1", spent: "44/1" }, "42 copies and two runs of the agent");
  t.match(
    scene.iterations(),
    [1, 2].map((number) => ({ number, kind: "propose", state: "ended", attempts: 1 })),
  );
  t.match(
    scene.candidates().map(({ name, replayEnded, heldOutEnded, searched, heldOut }) => {
      return [name, replayEnded, heldOutEnded, searched?.searchScore, heldOut?.heldOutScore];
    }),
    [
      ["seed", "finished", null, 0, 0],
      ["try-1", "finished", "finished", 1, 1],
      ["too-1", "finished", null, 0, undefined],
      ["try-2", "finished", "finished", 1, 1],
      ["too-2", "finished", null, 0, undefined],
    ],
  );
  t.same(scene.complaintsAtEnd(), []);
});

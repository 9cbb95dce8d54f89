import t from "tap";
import { openCheckScene } from "../../support/check-scene.js";
import { createUnder, replace, toProblem, workspaceWithTeam } from "../../support/resources.js";
import { type Client, startTestService } from "../../support/service.js";

const base = "/api/resources";
const work = {
  key: "work",
  name: "Work",
  kind: "work",
  prompt: "Work.",
  passesTo: ["review"],
  check: "make test",
  model: "m-1",
  judge: { rubric: "Is it good?", claims: [] },
  runners: { pool: null, labels: ["gpu"] },
};
const review = { key: "review", name: "Review", kind: "review" };
const line = { key: "dev", name: "Dev", repositories: [{ name: "acme/app" }], stations: [work, review] };

async function scene(owner: Client) {
  const { teamId } = await workspaceWithTeam(owner);
  const made = await owner.create(`${base}/teams/${teamId}/lines`, line);
  const [station, second] = made.stations as { id: string }[];
  return { lineId: made.id, station, second, candidates: `${base}/lines/${made.id}/stations/work/replay-candidates` };
}

t.test("a candidate from the live station has its block whole, with what was changed", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { lineId, station, candidates } = await scene(owner);
  const { id: _id, ...live } = station ?? { id: "" };
  const made = await owner.create(candidates, { name: "Careful", station: { from: "live", prompt: "Work well." } });
  t.same(made.station, { ...live, prompt: "Work well." });
  t.match(made.changedFrom, { changes: [{ part: "prompt", name: null, kind: "changed", was: null, now: null }] });
  t.same((made.changedFrom as { changes: unknown[] }).changes.length, 1);
  t.same(made.warnings, [], "nothing else differs from the live station");

  const same = await owner.create(candidates, { name: "The same", station: { from: "live" } });
  t.same(same.station, live);
  t.match(same.changedFrom, { changes: { length: 0 } });

  const fields = { key: "work", model: null, judge: { rubric: "Better?" }, tools: [], passesTo: [], check: null };
  const several = await owner.create(candidates, { name: "Several", station: { from: "live", ...fields } });
  const { judge, ...others } = fields;
  t.match(several.station, { ...live, ...others, judge: { ...judge, scale: "yes-no", claims: { length: 0 } } });

  const changed = { ...line, stations: [{ ...work, model: "m-2" }, review] };
  t.equal((await replace(owner, `${base}/lines/${lineId}`, 1, changed)).status, 200);
  const read = await owner.request("GET", `${base}/replay-candidates/${made.id}`);
  t.same(read.body?.station, made.station, "it stays as it was at the proposal");
  const later = await owner.create(candidates, { name: "Later", station: { from: "live", prompt: "Work well." } });
  t.same(later.station, { ...(made.station as object), model: "m-2" });
});

const table: readonly (readonly [station: unknown, path: string, message: string])[] = [
  [{ from: "Live", prompt: "x" }, "station.from", 'must be "live"'],
  [{ from: null }, "station.from", 'must be "live"'],
  [{ from: ["live"], prompt: "x" }, "station.from", 'must be "live"'],
  [{ from: "live", prompt: 5 }, "station.prompt", "must be text"],
  [{ from: "live", prompt: null }, "station.prompt", "must be text"],
  [{ from: "live", color: "red" }, "station.color", "is not a field here"],
  [{ from: "live", key: "review" }, "station.key", "keeps the station's key, `work`"],
  [{ from: "live", id: "sta_1" }, "station.id", "is read-only"],
  [{ from: "live", kind: "review" }, "station.kind", "must be work: only work stations are replayed"],
  [{ from: "live", harness: "some-agent" }, "station.harness", "names a harness a runner can start"],
  [{ from: "live", skills: ["none"] }, "station.skills[0]", "there is no skill core/none"],
  [{ from: "live", passesTo: ["none"] }, "station.passesTo[0]", "there is no station none"],
  [
    { from: "live", judge: { rubric: "x", passScore: 3 } },
    "station.judge.passScore",
    "is allowed only with the scale number",
  ],
  ["live", "station", "is a station block, as a line holds it"],
  [undefined, "station", "is required"],
];

t.test("what is changed of the live station is checked as a whole block is", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { candidates, lineId } = await scene(owner);
  for (const [index, [station, path, message]] of table.entries()) {
    const answer = await createUnder(owner, candidates, { name: "n", station }, `block-${index}`);
    t.equal(answer.status, 422, JSON.stringify(station));
    t.match(toProblem(answer).errors, [{ path, message, severity: "error" }]);
  }
  for (const station of [{}, { prompt: "x" }]) {
    const answer = await createUnder(owner, candidates, { name: "n", station }, JSON.stringify(station));
    const paths = ["station.key", "station.name", "station.kind"];
    t.match(
      toProblem(answer).errors,
      paths.map((path) => ({ path, message: "is required" })),
      "a block is whole",
    );
  }
  const reviewing = `${base}/lines/${lineId}/stations/review/replay-candidates`;
  const answer = await createUnder(owner, reviewing, { name: "n", station: { from: "live" } }, "review");
  t.match(toProblem(answer).errors, [{ path: "station.kind" }]);
});

t.test("a check takes changes of the live station", async (t) => {
  const place = await openCheckScene(t);
  const { check, plan } = place;
  const same = await check(plan({ station: { from: "live" } }));
  t.match([same.status, same.body], [409, { type: "urn:service:problem:nothing-to-replay" }]);
  const kept = await check(plan({ station: { from: "live", check: "true" } }));
  t.match([kept.status, kept.body?.detail], [409, /only fields that a check leaves at their live values: check/]);
  const refused = await check(plan({ station: { from: "live", key: "other" } }));
  t.match([refused.status, refused.body], [422, { errors: [{ path: "station.key" }] }]);
  const made = await check(plan({ station: { from: "live", prompt: "Do it well." } }));
  t.match([made.status, made.body], [201, { verdict: "running", keptLive: { length: 0 } }], made.text);
});

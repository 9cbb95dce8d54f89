import t from "tap";
import { bearer, createUnder, remove, replace, toProblem, toSlug, workspaceWithTeam } from "../../support/resources.js";
import { type Client, startTestService } from "../../support/service.js";

const base = "/api/resources";
const work = { key: "work", name: "Work", kind: "work", prompt: "Work.", passesTo: ["review"] };
const review = { key: "review", name: "Review", kind: "review" };
const line = { key: "dev", name: "Dev", repositories: [{ name: "acme/app" }], stations: [work, review] };

async function scene(owner: Client) {
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  const made = await owner.create(`${base}/teams/${teamId}/lines`, line);
  const candidates = `${base}/lines/${made.id}/stations/work/replay-candidates`;
  const [station] = made.stations as { id: string }[];
  return { workspaceId, teamId, lineId: made.id, stationId: station?.id, candidates };
}

t.test("a candidate lists its changes of the station at the time of the proposal", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { teamId, lineId, stationId, candidates } = await scene(owner);
  const files = [{ path: "SKILL.md", content: "x" }];
  await owner.create(`${base}/teams/${teamId}/skills`, { key: "greet", name: "Greet", files });
  const judge = { rubric: "Is it good?", scale: "number", passScore: 4 };
  const made = await owner.create(candidates, {
    name: "With a skill",
    station: { ...work, prompt: "Work well.", model: "m-2", effort: "high", skills: ["greet"], decisions: true, judge },
  });
  t.match(made, {
    teamId,
    lineId,
    stationId,
    stationAddress: "core/dev/work",
    kind: "proposed",
    version: 1,
    address: "core/dev/work/With a skill",
    station: { timeoutMinutes: 60, harness: "command", skills: ["greet"] },
    warnings: [{ path: "station.judge", message: /^the live station has no judge/, severity: "warning" }],
  });
  const { fingerprint, changes } = made.changedFrom as { fingerprint: string; changes: unknown };
  t.match(fingerprint, /^[0-9a-f]{64}$/);
  t.match(made.fingerprint, /^[0-9a-f]{64}$/);
  t.not(made.fingerprint, fingerprint);
  t.same(changes, [
    { part: "prompt", name: null, kind: "changed", was: null, now: null },
    { part: "model", name: null, kind: "added", was: null, now: "m-2" },
    { part: "effort", name: null, kind: "added", was: null, now: "high" },
    { part: "skill", name: "greet", kind: "added", was: null, now: null },
    { part: "decisions", name: null, kind: "changed", was: false, now: true },
    { part: "judge", name: null, kind: "added", was: null, now: null },
  ]);

  const same = await owner.create(candidates, { name: "The same", station: work });
  t.same(same.warnings, []);
  t.same(same.changedFrom, { fingerprint, changes: [] });
  t.equal(same.fingerprint, fingerprint, "runs under it go as those of the live config");
  const changed = { ...line, stations: [{ ...work, prompt: "Other." }, review] };
  t.equal((await replace(owner, `${base}/lines/${lineId}`, 1, changed)).status, 200);
  const later = await owner.request("GET", `${base}/replay-candidates/${same.id}`);
  t.same(later.body, same, "what it changes is fixed at the proposal");
  const anew = await owner.create(candidates, { name: "Again", station: work });
  t.equal(anew.fingerprint, fingerprint);
  t.match(anew.changedFrom, { changes: [{ part: "prompt" }] });

  const checked = { ...line, stations: [{ ...work, check: "make test" }, review] };
  t.equal((await replace(owner, `${base}/lines/${lineId}`, 2, checked)).status, 200);
  const now = await owner.request("GET", `${base}/replay-candidates/${same.id}`);
  t.match(now.body, { warnings: [{ path: "station.check" }] }, "warnings are of the station as it is now");
});

const names: readonly [name: unknown, message: string][] = [
  ["", "Candidate name must be 1 to 100 characters."],
  ["x".repeat(101), "Candidate name must be 1 to 100 characters."],
  [" x", "Candidate name cannot start or end with a space."],
  ["x ", "Candidate name cannot start or end with a space."],
  ["a/b", "Candidate name cannot contain /."],
  ["live CONFIG 2", "Candidate name cannot start with the reserved prefix `Live config`."],
  ["Planned change", "Candidate name cannot start with the reserved prefix `Planned change`."],
  ["with the answer", "Candidate name cannot start with the reserved prefix `With the answer`."],
  ["a\u0000b", "Candidate name cannot contain control characters."],
  ["a\u200bb", "Candidate name cannot contain control characters."],
  ["a\u2028b", "Candidate name cannot contain control characters."],
];

const blocks: readonly [station: unknown, path: string, message: string][] = [
  ["work", "station", "is a station block, as a line holds it"],
  [[work], "station", "is a station block, as a line holds it"],
  [undefined, "station", "is required"],
  [{ ...work, key: "review" }, "station.key", "keeps the station's key, `work`"],
  [{ ...work, kind: "review" }, "station.kind", "must be work: only work stations are replayed"],
  [{ ...work, harness: "some-agent" }, "station.harness", "names a harness a runner can start"],
  [{ ...work, skills: ["none"] }, "station.skills[0]", "there is no skill core/none"],
  [{ ...work, tools: ["code.open"] }, "station.tools[0].tool", "no integration of the team offers code.open"],
  [{ ...work, passesTo: ["none"] }, "station.passesTo[0]", "there is no station none"],
  [
    { ...work, judge: { rubric: "x", passScore: 3 } },
    "station.judge.passScore",
    "is allowed only with the scale number",
  ],
  [{ ...work, timeoutMinutes: 0 }, "station.timeoutMinutes", "must be above 0"],
  [{ ...work, "odd key": 1 }, 'station["odd key"]', "is not a field here"],
  [{ ...work, id: "sta_1" }, "station.id", "is read-only"],
  [
    { ...work, check: "make", diffs: true },
    "station",
    "repositories[0].setup is required where a station has both check and diffs",
  ],
];

t.test("a name and a block are checked, the block as the line would be with the station replaced", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { candidates } = await scene(owner);
  for (const [index, [name, message]] of names.entries()) {
    const answer = await createUnder(owner, candidates, { name, station: work }, `name-${index}`);
    t.same([answer.status, toProblem(answer).errors], [422, [{ path: "name", message, severity: "error" }]]);
  }
  for (const [index, [station, path, message]] of blocks.entries()) {
    const answer = await createUnder(owner, candidates, { name: "n", station }, `block-${index}`);
    t.same([answer.status, toProblem(answer).errors], [422, [{ path, message, severity: "error" }]]);
  }
  const longest = await createUnder(owner, candidates, { name: "\u{1f4a5}".repeat(50), station: work }, "long");
  t.equal(longest.status, 201, longest.text);
});

t.test("candidates are proposed, read and withdrawn, and not changed", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { workspaceId, candidates } = await scene(owner);
  const made = await owner.create(candidates, { name: "Mine: 100 %", station: work });
  const taken = await createUnder(owner, candidates, { name: "Mine: 100 %", station: work }, "taken");
  t.same([taken.status, toSlug(taken)], [409, "already-exists"]);
  t.match(toProblem(taken).detail, /import it/);
  const none = await createUnder(owner, candidates.replace("/work/", "/none/"), { name: "x", station: work }, "none");
  t.equal(none.status, 404, "no such station");

  const at = (path: string) => owner.request("GET", `${base}/workspaces/${workspaceId}/replay-candidates${path}`);
  const imported = await at(`/import?address=${encodeURIComponent("core/dev/work/Mine: 100 %")}`);
  t.equal(imported.body?.id, made.id);
  t.equal(imported.headers.etag, '"1"');
  for (const address of ["core/dev/work", "core/dev/work/", "Core/dev/work/x", "x"]) {
    const refused = await at(`/import?address=${encodeURIComponent(address)}`);
    t.same([refused.status, toProblem(refused).errors?.[0]?.path], [422, "address"], address);
  }

  const other = { ...line, key: "dev-2", stations: [work, { ...work, key: "work-2" }, review] };
  const second = await owner.create(`${base}/teams/${made.teamId}/lines`, other);
  const elsewhere = `${base}/lines/${second.id}/stations/work-2/replay-candidates`;
  await owner.create(elsewhere, { name: "Theirs", station: { ...work, key: "work-2" } });
  const addresses = async (query: string) =>
    ((await at(query)).body as { items: { address: string }[] }).items.map(({ address }) => address);
  t.same(await addresses(""), ["core/dev-2/work-2/Theirs", "core/dev/work/Mine: 100 %"]);
  t.same(await addresses("?station=core/dev/work"), ["core/dev/work/Mine: 100 %"]);
  t.same(await addresses("?station=core/dev-2/work"), []);
  for (const station of ["core/dev", "core/dev/work/x", "Core/dev/work", ""]) {
    const refused = await at(`?station=${encodeURIComponent(station)}`);
    t.same([refused.status, toProblem(refused).errors?.[0]?.path], [422, "station"], station);
  }
  t.equal((await remove(owner, `${base}/replay-candidates/${made.id}`, 1)).status, 204);
  t.same(await addresses("?station=core/dev/work"), []);
});

t.test("readers of the team's outcomes see candidates; proposing needs more", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { workspaceId, candidates } = await scene(owner);
  const made = await owner.create(candidates, { name: "Mine", station: work });
  const one = `${base}/replay-candidates/${made.id}`;
  const list = `${base}/workspaces/${workspaceId}/replay-candidates`;
  const invited = await owner.request("POST", "/api/workspaces/acme/invites", {
    emails: ["member@example.com"],
    role: "member",
    teams: [],
  });
  t.equal(invited.status < 300, true, invited.text);
  const link = await service.logged(/\/invites\/([\w-]+)/);
  const member = await service.signIn("member@example.com");
  t.equal((await member.request("POST", `/api/invites/${link[1]}/accept`)).status < 300, true);
  t.equal((await member.request("GET", one)).status, 404, "not on the team");
  t.same((await member.request("GET", list)).body, { items: [] });
  t.equal((await member.request("GET", `${list}/import?address=core/dev/work/Mine`)).status, 404);
  t.equal((await createUnder(member, candidates, { name: "Theirs", station: work }, "k")).status, 404);
  t.equal((await remove(member, one, 1)).status, 404);

  const { userId } = (await member.request("GET", "/api/sessions/me")).body ?? {};
  t.equal((await owner.request("POST", `/api/teams/${made.teamId}/members`, { userId })).status < 300, true);
  t.equal((await member.request("GET", one)).status, 200, "on the team");
  t.equal((await createUnder(member, candidates, { name: "Theirs", station: work }, "k")).status, 201);

  const reader = await bearer(service, owner, { workspaceId, name: "reader", scopes: ["read"] });
  t.equal((await reader.request("GET", one)).status, 200);
  const refused = await createUnder(reader, candidates, { name: "More", station: work }, "k");
  t.match(refused.body, { status: 403, title: "Not allowed to plan", permission: "plan" });
  t.match((await remove(reader, one, 1)).body, { status: 403, title: "Not allowed to plan" });
  const planner = await bearer(service, owner, { workspaceId, name: "planner", scopes: ["plan"] });
  t.equal((await createUnder(planner, candidates, { name: "More", station: work }, "k")).status, 201);
});

t.test("a candidate blocks no deletion, and is removed with its station or its line", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { lineId, candidates } = await scene(owner);
  const second = { ...work, key: "more" };
  t.equal(
    (await replace(owner, `${base}/lines/${lineId}`, 1, { ...line, stations: [work, review, second] })).status,
    200,
  );
  const kept = await owner.create(candidates, { name: "Kept", station: work });
  const lost = await owner.create(candidates.replace("/work/", "/more/"), { name: "Lost", station: second });
  const one = (id: string) => owner.request("GET", `${base}/replay-candidates/${id}`);
  t.equal((await replace(owner, `${base}/lines/${lineId}`, 2, line)).status, 200);
  t.same([(await one(kept.id)).status, (await one(lost.id)).status], [200, 404]);
  t.equal((await remove(owner, `${base}/lines/${lineId}`, 3)).status, 204);
  t.equal((await one(kept.id)).status, 404);
  const { body } = await owner.request("GET", "/api/workspaces/acme/configuration-changes?limit=3");
  t.match(body?.items, [
    { resource: "replay-candidate", resourceId: kept.id, key: "Kept", action: "deleted", by: { kind: "service" } },
    { resource: "line", action: "deleted", by: { kind: "person" } },
    { resource: "replay-candidate", resourceId: lost.id, action: "deleted", by: { kind: "service", userId: null } },
  ]);
});

t.test(
  "a block that omits where it passes tasks has the live station's, as a read shows; none stays none",
  async (t) => {
    const service = await startTestService(t);
    const owner = await service.signIn("owner@example.com");
    const { candidates } = await scene(owner);
    const { passesTo: _passesTo, ...omitting } = work;
    const made = await owner.create(candidates, { name: "Omits it", station: omitting });
    const read = await owner.request("GET", `${base}/replay-candidates/${made.id}`);
    t.match(read.body, { station: { passesTo: ["review"] }, changedFrom: { changes: { length: 0 } } });
    const none = await owner.create(candidates, { name: "Passes to none", station: { ...work, passesTo: [] } });
    t.match(none, { station: { passesTo: { length: 0 } } });
  },
);

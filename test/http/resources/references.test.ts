import t from "tap";
import { createUnder, remove, replace, toProblem, toSlug, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const base = "/api/resources";
const signing = { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`, secretVersion: 1 };
const station = (key: string, more: object = {}) => ({ key, name: key, kind: "work", ...more });

t.test("a referenced resource must exist, and cannot be deleted while it is referenced", async (t) => {
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: "hooks.example.com" } });
  const owner = await service.signIn("owner@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  const team = `${base}/teams/${teamId}`;

  const wanting = { skills: ["greeting"], profile: "shell", runners: { pool: "main", labels: [] } };
  const line = { key: "dev", name: "Dev", stations: [station("work", wanting), station("review")] };
  const refused = await createUnder(owner, `${team}/lines`, line, "too-early");
  t.same(toProblem(refused).errors, [
    { path: "stations[0].runners.pool", message: "there is no runner-pool main", severity: "error" },
    { path: "stations[0].profile", message: "there is no harness-profile core/shell", severity: "error" },
    { path: "stations[0].skills[0]", message: "there is no skill core/greeting", severity: "error" },
  ]);

  const pool = await owner.create(`${base}/workspaces/${workspaceId}/runner-pools`, { key: "main" });
  const secret = await owner.create(`${base}/workspaces/${workspaceId}/secrets`, {
    name: "api-key",
    value: "value",
    valueVersion: 1,
  });
  const profile = await owner.create(`${team}/harness-profiles`, { key: "shell", secrets: { API_KEY: "api-key" } });
  const files = [{ path: "SKILL.md", content: "x" }];
  const skill = await owner.create(`${team}/skills`, { key: "greeting", name: "Greeting", files });
  const made = await owner.create(`${team}/lines`, line);
  const hook = await owner.create(`${team}/hooks`, {
    key: "tell",
    on: "task.moved",
    match: { stations: ["review"] },
    signing,
    steps: [{ name: "tell", request: { url: "https://hooks.example.com/" } }],
  });

  const uses: [string, string][] = [
    [`${base}/runner-pools/${pool.id}`, "The runner-pool main is used by line core/dev."],
    [`${base}/secrets/${secret.id}`, "The secret api-key is used by harness-profile core/shell."],
    [`${base}/harness-profiles/${profile.id}`, "The harness-profile core/shell is used by line core/dev."],
    [`${base}/skills/${skill.id}`, "The skill core/greeting is used by line core/dev."],
    [`${base}/lines/${made.id}`, "The station review of line core/dev is used by hook core/tell."],
  ];
  for (const [path, detail] of uses) {
    const answer = await remove(owner, path, 1);
    t.same([answer.status, toSlug(answer), toProblem(answer).detail], [409, "in-use", detail]);
  }
  t.match(toProblem(await remove(owner, team, 1)).detail, /^The team core is used by /);
  const without = { ...line, stations: [station("work")] };
  const lost = await replace(owner, `${base}/lines/${made.id}`, 1, without);
  t.same([lost.status, toSlug(lost)], [409, "in-use"], "a station that a hook matches stays in its line");

  const second = await owner.create(`${team}/lines`, { key: "other", name: "Other", stations: [station("review")] });
  const free = await replace(owner, `${base}/lines/${made.id}`, 1, without);
  t.equal(free.status, 200, "another line of the team has such a station");
  for (const path of [`${base}/runner-pools/${pool.id}`, `${base}/skills/${skill.id}`]) {
    t.equal((await remove(owner, path, 1)).status, 204, "nothing names it any more");
  }
  t.equal((await remove(owner, `${base}/lines/${second.id}`, 1)).status, 409);
  t.equal((await remove(owner, `${base}/hooks/${hook.id}`, 1)).status, 204);
  t.equal((await remove(owner, `${base}/lines/${second.id}`, 1)).status, 204);
});

t.test("a station runs on the harness of its profile", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { teamId } = await workspaceWithTeam(owner);
  await owner.create(`${base}/teams/${teamId}/harness-profiles`, { key: "other", harness: "other-agent" });
  const line = { key: "dev", name: "Dev", stations: [station("work", { profile: "other" })] };
  const refused = await createUnder(owner, `${base}/teams/${teamId}/lines`, line, "wrong-harness");
  t.match(toProblem(refused).errors, [{ path: "stations[0].profile", message: "is for the harness other-agent" }]);
});

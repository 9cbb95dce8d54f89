import t from "tap";
import { listItems, replace, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const base = "/api/resources";

t.test("a run's fingerprint is that of all that affects it, and of nothing else", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { teamId } = await workspaceWithTeam(owner);
  const team = `${base}/teams/${teamId}`;
  const skill = (content: string) => ({ key: "greet", name: "Greet", files: [{ path: "SKILL.md", content }] });
  const profile = (level: string) => ({ key: "shell", args: ["sh"], env: { LEVEL: level } });
  const work = { key: "work", name: "Work", kind: "work", prompt: "Work.", profile: "shell", skills: ["greet"] };
  const line = (more: object, ofLine: object = {}) => ({
    key: "dev",
    name: "Dev",
    repositories: [{ name: "acme/app" }],
    stations: [{ ...work, ...more }],
    ...ofLine,
  });
  const ids = {
    skills: (await owner.create(`${team}/skills`, skill("one"))).id,
    "harness-profiles": (await owner.create(`${team}/harness-profiles`, profile("low"))).id,
    lines: (await owner.create(`${team}/lines`, line({}))).id,
  };
  const versions = { skills: 1, "harness-profiles": 1, lines: 1 };
  const change = async (collection: keyof typeof ids, body: object) => {
    const path = `${base}/${collection}/${ids[collection]}`;
    const answer = await replace(owner, path, versions[collection], body);
    t.equal(answer.status, 200, answer.text);
    versions[collection] += 1;
  };
  const fingerprint = async () => {
    const task = await owner.request("POST", `/api/teams/${teamId}/tasks`, { title: "Do it", line: "dev" });
    const [run] = listItems(await owner.request("GET", `/api/tasks/${task.body?.id}/runs`));
    return String(run?.fingerprint);
  };
  const first = await fingerprint();
  t.match(first, /^[0-9a-f]{64}$/);
  t.equal(await fingerprint(), first, "the same for another run");

  const seen = new Set([first]);
  const affecting: readonly [collection: keyof typeof ids, body: object][] = [
    ["skills", skill("two")],
    ["harness-profiles", profile("high")],
    ["lines", line({ prompt: "Work well." })],
    ["lines", line({}, { repositories: [{ name: "acme/app", setup: "make" }] })],
  ];
  for (const [collection, body] of affecting) {
    await change(collection, body);
    const now = await fingerprint();
    t.notOk(seen.has(now), `it changes with ${JSON.stringify(body)}`);
    seen.add(now);
  }
  await change("skills", skill("one"));
  await change("harness-profiles", profile("low"));
  await change(
    "lines",
    line({ name: "Another name", alerts: [{ measure: "cost", above: 1, over: 5 }] }, { name: "Other" }),
  );
  t.equal(await fingerprint(), first, "it is that of before again, whatever does not affect a run");
});

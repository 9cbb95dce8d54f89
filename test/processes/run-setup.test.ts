import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { runFacts } from "../../actors/run-facts/run-fact.table.js";
import { runOutcomes } from "../../actors/run-facts/run-outcome.table.js";
import { stays } from "../../actors/run-facts/stay.table.js";
import { runInputs } from "../../actors/runs/run-input.table.js";
import { inRepository, layRepository } from "../support/repository.js";
import { createUnder, remove, replace, workspaceWithTeam } from "../support/resources.js";
import { type Client, startTestService } from "../support/service.js";
import { until } from "../support/until.js";
import { RunnerProcess } from "./runner-process.js";

const base = "/api/resources";

/** An agent that reports its environment, line by line. */
const agent = `
echo '{"type":"step","kind":"tool","text":"found","call":{"server":"tracker","tool":"find"},"skill":"greeting"}'
echo "level $LEVEL"
echo "key $API_KEY"
cat "$SIGNALBOX_SKILLS/greeting/SKILL.md" "$SIGNALBOX_SKILLS/greeting/words/hello.txt"
echo changed >> a.txt
`;

async function findRun(person: Client, taskId: string) {
  return until("the run's end", async () => {
    const runs = (await person.request("GET", `/api/tasks/${taskId}/runs`)).body?.items;
    const [run] = runs as { id: string; state: string; outcome: string; failure: { code: string } | null }[];
    return run?.state === "ended" ? run : undefined;
  });
}

t.test(
  "a run gets its station's profile, secrets and skills as they were when it was queued; what it did is recorded",
  async (t) => {
    const service = await startTestService(t);
    const ada = await service.signIn("ada@example.com");
    const { workspaceId, teamId } = await workspaceWithTeam(ada);
    const pool = await createUnder(ada, `${base}/workspaces/${workspaceId}/runner-pools`, { key: "main" }, "pool");
    const secret = { name: "api-key", value: "the value of the key", valueVersion: 1 };
    const { id: secretId } = await ada.create(`${base}/workspaces/${workspaceId}/secrets`, secret);
    const files = [
      { path: "SKILL.md", content: "how to greet\n" },
      { path: "words/hello.txt", content: "hello there\n" },
    ];
    const skill = { key: "greeting", name: "Greeting", files };
    const { id: skillId } = await ada.create(`${base}/teams/${teamId}/skills`, skill);
    const profile = {
      key: "shell",
      args: ["sh", "-c", agent],
      env: { LEVEL: "high" },
      secrets: { API_KEY: "api-key" },
    };
    const { id: profileId } = await ada.create(`${base}/teams/${teamId}/harness-profiles`, profile);
    const station = { key: "work", name: "Work", kind: "work", profile: "shell", skills: ["greeting"] };
    const repositories = [{ name: "acme/app" }];
    await ada.create(`${base}/teams/${teamId}/lines`, { key: "dev", name: "Dev", repositories, stations: [station] });

    const open = async (title: string) =>
      String((await ada.request("POST", `/api/teams/${teamId}/tasks`, { title, line: "dev" })).body?.id);
    const first = await open("First");
    const changed = { ...skill, files: [{ path: "SKILL.md", content: "how not to greet\n" }] };
    t.equal((await replace(ada, `${base}/skills/${skillId}`, 1, changed)).status, 200);

    const folder = mkdtempSync(join(tmpdir(), "signalbox-setup-"));
    const repository = join(folder, "acme/app");
    layRepository(repository);
    const commit = inRepository(repository, "rev-parse", "HEAD").trim();
    const runner = new RunnerProcess({
      url: service.baseUrl,
      token: pool.headers["service-pool-token"] ?? "",
      workFolder: folder,
      gitUrl: join(folder, "{name}"),
      command: ["false"],
    });
    t.teardown(async () => {
      await runner.end("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    });
    const run = await findRun(ada, first);
    t.equal(run.outcome, "completed");
    const steps = (await ada.request("GET", `/api/runs/${run.id}/steps`)).body?.items as { text: string }[];
    t.same(
      steps.map(({ text }) => text),
      ["found", "level high", "key ***", "how to greet", "hello there"],
      "the secret reached the agent, and its value is masked in what is shown",
    );
    const { reading } = service.runtime;
    t.match(runInputs.get(reading, workspaceId, run.id), {
      beginning: { checkouts: [{ repository: "acme/app", base: commit, diff: null }] },
      claimed: { secrets: { "api-key": 1 } },
    });
    t.match(runOutcomes.get(reading, workspaceId, run.id), { outcome: "accepted", next: null });
    t.match(runFacts.list(reading, workspaceId, [teamId]), [
      {
        runId: run.id,
        outcome: "completed",
        taskOutcome: "accepted",
        profile: "shell",
        steps: 5,
        repositories: ["acme/app"],
        skillsGiven: ["greeting"],
        skillsRead: ["greeting"],
        priced: false,
        servers: [{ server: "tracker", calls: 1, failed: 0, lastFailed: false }],
      },
    ]);
    t.same(
      stays.list(reading, workspaceId, [teamId]).map(({ taskId, station, part }) => [taskId, station, part]),
      ["queued", "running"].map((part) => [first, "work", part]),
    );

    await runner.end("SIGTERM");
    const second = await open("Second");
    t.equal((await replace(ada, `${base}/harness-profiles/${profileId}`, 1, { ...profile, secrets: {} })).status, 200);
    t.equal((await remove(ada, `${base}/secrets/${secretId}`, 1)).status, 204);
    const other = new RunnerProcess({
      url: service.baseUrl,
      token: pool.headers["service-pool-token"] ?? "",
      workFolder: folder,
      gitUrl: join(folder, "{name}"),
      command: ["false"],
    });
    t.teardown(() => other.end("SIGKILL"));
    const failed = await findRun(ada, second);
    t.same([failed.outcome, failed.failure?.code], ["failed", "secret-missing"]);
  },
);

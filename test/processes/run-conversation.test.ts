import t, { type Test } from "tap";
import { arrange, listRuns, openTask, runner, type Setting, SHORT_LEASE, until } from "./work-setting.js";

/** An agent that reports each message that it receives. It ends when a message tells it to end. */
const listening = `
tr -d '\\n' < "$SIGNALBOX_CONTEXT_FILE"; echo
while read -r line; do
  printf '%s\\n' "$line"
  case "$line" in *'"text":"end"'*) exit 0;; esac
done
`;

interface Talk {
  readonly setting: Setting;
  readonly taskId: string;
  readonly runId: string;
}

async function begin(t: Test): Promise<Talk> {
  const setting = await arrange(t, { agent: listening });
  const taskId = await openTask(setting);
  runner(t, setting, "only");
  const run = await until(async () => (await listRuns(setting, taskId)).find(({ steps }) => steps > 0));
  return { setting, taskId, runId: run.id };
}

const say = ({ setting, runId }: Talk, text: string) =>
  setting.service.request("POST", `/api/runs/${runId}/messages`, {
    body: { text },
    headers: { ...setting.cookie, "idempotency-key": text.replace(" ", "-") },
  });

/** Returns the messages that a run's agent reported, in order. */
async function told({ setting }: Talk, runId: string): Promise<string[]> {
  const answer = await setting.service.request("GET", `/api/runs/${runId}/steps`, { headers: setting.cookie });
  const steps = answer.body?.items as { readonly from: string; readonly text: string }[];
  return steps.flatMap(({ from, text }) =>
    from === "agent" && text.includes('"type":"message"') ? [(JSON.parse(text) as { text: string }).text] : [],
  );
}

const outcomes = async ({ setting, taskId }: Talk) => (await listRuns(setting, taskId)).map(({ outcome }) => outcome);

t.test("what was acknowledged before the service was killed with -9 reaches the agent once, in order", async (t) => {
  const talk = await begin(t);
  const { setting } = talk;
  const said: string[] = [];
  for (let round = 0; round < 3; round++) {
    for (const word of ["first", "second"]) {
      said.push(`${word} ${round}`);
      t.equal((await say(talk, `${word} ${round}`)).status, 201);
    }
    await setting.restart();
    t.match(await say(talk, `second ${round}`), { status: 201, headers: { "idempotent-replayed": "true" } });
  }
  t.equal((await say(talk, "end")).status, 201);
  await until(async () => (await outcomes(talk))[0] === "completed");
  t.same(await told(talk, talk.runId), [...said, "end"]);
  t.equal((await listRuns(setting, talk.taskId)).length, 1);
});

t.test("what was said to an agent that was killed with its runner, the next one begins with", async (t) => {
  const setting = await arrange(t, { agent: listening, leaseSeconds: SHORT_LEASE });
  const taskId = await openTask(setting);
  const first = runner(t, setting, "first");
  const run = await until(async () => (await listRuns(setting, taskId)).find(({ steps }) => steps > 0));
  const talk = { setting, taskId, runId: run.id };
  await say(talk, "use blue");
  await until(async () => (await told(talk, run.id)).length === 1);
  await first.end("SIGKILL");
  const isInTime = (await say(talk, "and red")).status === 201;
  runner(t, setting, "second");
  const next = await until(async () =>
    (await listRuns(setting, taskId)).find(({ id, steps }) => id !== run.id && steps > 0),
  );
  t.equal((await say({ ...talk, runId: run.id }, "too late")).status, 409);
  const steps = await setting.service.request("GET", `/api/runs/${next.id}/steps`, { headers: setting.cookie });
  const [shown] = (steps.body?.items ?? []) as { readonly text: string }[];
  const context = JSON.parse(shown?.text ?? "{}") as { task: { notes: { text: string }[] } };
  t.same(
    context.task.notes.map(({ text }) => text),
    isInTime ? ["use blue", "and red"] : ["use blue"],
    "what was acknowledged, whether its lease was over by then or not",
  );
  await say({ ...talk, runId: next.id }, "end");
  await until(async () => (await outcomes(talk))[0] === "completed");
  t.same(await outcomes(talk), ["completed", "abandoned"]);
});

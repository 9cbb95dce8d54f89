import t, { type Test } from "tap";
import { hookReceiver } from "../../support/hook-receiver.js";
import { expr } from "../../support/integration.js";
import { ManualClock } from "../../support/manual-clock.js";
import { bearer, listItems, toSlug } from "../../support/resources.js";
import { openWorkplace } from "../../support/workplace.js";

const MINUTE_MS = 60_000;

/**
 * Opens a workplace with a chat integration. The integration has a binding for opened tasks, a tool, and an action with
 * a schedule.
 */
async function open(t: Test) {
  const clock = new ManualClock();
  const chat = await hookReceiver(t, (response, n) => {
    // The chat's answer depends on the task's title, which is in the request.
    const { text } = chat.requests[n - 1] ?? { text: "" };
    response.writeHead(text.includes("Refuse") ? 403 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ts: `thread-${n}`, token: "s3cret-of-chat" }));
  });
  const workplace = await openWorkplace(t, {
    clock,
    settings: { OUTBOUND_ALLOW: chat.url, RATE_PER_CREDENTIAL: "0", RATE_PER_ADDRESS: "0" },
  });
  const { ada, teamId, workspaceId } = workplace;
  const host = new URL(chat.url).host;
  await ada.create(`/api/resources/workspaces/${workspaceId}/secrets`, {
    name: "chat",
    value: "s3cret-of-chat",
    valueVersion: 1,
    hosts: [host],
  });
  const tell = (path: string, body: object) => ({
    url: `${chat.url}${path}`,
    body,
    capture: { ts: expr("response.ts") },
  });
  const integration = await ada.create(`/api/resources/teams/${teamId}/integrations`, {
    integration: "chat",
    name: "Chat",
    hosts: [host],
    connection: { token: { secret: "chat" } },
    actions: {
      tell: {
        request: tell(`/say/${expr("task.line")}`, { text: expr("'At ' + task.station"), to: expr("target.to") }),
      },
      say: { request: tell("/said", { text: expr("inputs.text") }) },
      beat: { request: tell("/beat", {}), schedule: { everyMinutes: 10 } },
    },
    tools: { say: { action: "say", inputs: { text: { required: true } } } },
    on: [
      {
        event: "task.opened",
        action: "tell",
        to: { to: expr("task.line") },
        mark: { thread: { value: expr("capture.ts") } },
      },
    ],
  });
  return { ...workplace, clock, chat, at: `/api/integrations/${integration.id}/action-runs`, integration };
}

t.test("bindings, hook calls and schedules act, and their history is read and sent again", async (t) => {
  const {
    ada,
    service,
    workspaceId,
    teamId,
    clock,
    chat,
    at,
    integration,
    open: openTask,
    task,
    until,
  } = await open(t);
  t.notMatch(JSON.stringify(integration.warnings), / yet/, "nothing of it is without effect");
  await ada.create(`/api/resources/teams/${teamId}/hooks`, {
    key: "say",
    on: "task.opened",
    steps: [{ name: "say", call: "chat.say", with: { text: expr("task.title") } }],
  });
  const runs = async (query = "") => listItems(await ada.request("GET", `${at}${query}`));

  const taskId = await openTask({ title: "Mend it" });
  await until(async () => (await runs())[0]?.state === "done");
  const [run] = await runs();
  t.match(run, {
    action: "tell",
    event: "task.opened",
    binding: 0,
    taskId,
    attempts: [{ n: 1, status: 200, code: null }],
  });
  t.notMatch(JSON.stringify(run), /s3cret/, "the answer repeats the secret, the history does not");
  await until(async () =>
    /^thread-/.test(String((await task(taskId)).marks && JSON.stringify((await task(taskId)).marks).slice(11))),
  );
  t.match((await task(taskId)).marks, { thread: /^thread-\d$/ });
  await chat.arrived(2);
  const told = chat.requests.find(({ text }) => text.includes("At Work"));
  t.match(told?.headers, { authorization: "Bearer s3cret-of-chat", "service-message-id": /^msg_/ });
  const said = chat.requests.find(({ text }) => text === '{"text":"Mend it"}');
  t.ok(said, "the hook's step called the tool");

  const failing = await openTask({ title: "Refuse this" });
  await until(async () => {
    const firings = listItems(await ada.request("GET", `/api/teams/${teamId}/hook-occurrences?state=waiting`));
    return firings.some(({ taskId }) => taskId === failing);
  });
  const [firing] = listItems(await ada.request("GET", `/api/teams/${teamId}/hook-occurrences?state=waiting`));
  t.match(firing?.attempts, [{ code: "tool-failed", status: 403 }], "what its tool refused is tried again");

  const again = { "idempotency-key": "again" };
  const resent = await ada.request("POST", `${at}/${run?.id}/resend`, {}, again);
  t.match(resent, { status: 202, body: { resends: run?.id, action: "tell" } });
  const repeated = await ada.request("POST", `${at}/${run?.id}/resend`, {}, again);
  t.match(repeated, { status: 202, body: { id: resent.body?.id }, headers: { "idempotent-replayed": "true" } });
  await until(async () => (await runs()).find(({ id }) => id === resent.body?.id)?.state === "done");
  t.match(
    (await runs()).find(({ id }) => id === run?.id),
    { resentAs: resent.body?.id },
  );
  const first = await ada.request("GET", `${at}?limit=1`);
  t.equal(listItems(first).length, 1);
  const metrics = await service.anonymous.request("GET", "/metrics");
  t.match(metrics.text, /signalbox_action_runs_total\{fate="done"\} [1-9]/);
  t.equal((await runs(`?limit=200&before=${first.body?.next}`)).length, 2, "pages go on");
  t.equal(toSlug(await ada.request("POST", `${at}/act_none/resend`, {})), "not-found");
  const reader = await bearer(service, ada, { workspaceId, name: "reader", scopes: ["read"] });
  t.equal((await reader.request("GET", at)).status, 200);
  t.equal((await reader.request("POST", `${at}/${run?.id}/resend`, {})).status, 403);

  clock.advance(10 * MINUTE_MS);
  await until(async () => (await runs()).some(({ action, state }) => action === "beat" && state === "done"));
  clock.advance(5 * MINUTE_MS);
  t.equal((await runs()).filter(({ action }) => action === "beat").length, 1, "not before its time");
  clock.advance(5 * MINUTE_MS);
  await until(async () => (await runs()).filter(({ action }) => action === "beat").length === 2);
});

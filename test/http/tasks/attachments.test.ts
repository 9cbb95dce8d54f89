import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { tasks } from "../../../actors/tasks/task.table.js";
import { type RaiseTask, type TaskRaised, teamMarksRef } from "../../../actors/tasks/team-marks.messages.js";
import { reference } from "../../../runtime/cells/reference.js";
import { startRealRunner } from "../../support/real-runner.js";
import { listItems } from "../../support/resources.js";
import { until } from "../../support/until.js";
import { openWorkplace } from "../../support/workplace.js";

/** Tests files that events attach, from their host to the agent's folder, with a real service and a real runner. */

const agent = `
cd "$SIGNALBOX_ATTACHMENTS"
printf '{"type":"step","kind":"message","text":"%s"}\\n' "$(for file in *; do echo "$file=$(cat "$file")"; done | tr '\\n' ';')"
`;
const expression = (cel: string) => `\${{ ${cel} }}`;
const only = { key: "work", name: "Work", kind: "work", runners: { pool: "main" } };

/** Serves `/files/<name>` with the name in the content, and 404 for the name `gone`. */
async function fileHost(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    const name = request.url?.replace("/files/", "") ?? "";
    response.writeHead(name === "gone" ? 404 : 200, { "content-type": "text/html" }).end(`<b>${name}</b>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function layRepository(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-attached-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const repository = join(folder, "acme/app");
  mkdirSync(repository, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], {
      cwd: repository,
      stdio: "ignore",
    });
  git("init", "--quiet", "--initial-branch", "main");
  git("commit", "--quiet", "--allow-empty", "-m", "Begin");
  return join(folder, "{name}");
}

t.test("files of an event reach the task, its readers, and the folder of its agent", async (t) => {
  const host = await fileHost(t);
  const place = await openWorkplace(t, { stations: [only], settings: { OUTBOUND_ALLOW: host } });
  const { ada, service, workspaceId, teamId, token } = place;
  const fetch = { url: `${host}/files/${expression("file")}` };
  const event = { raise: { attaches: { each: expression("body.files"), name: expression("file"), fetch } } };
  const integration = {
    integration: "tracker",
    name: "Tracker",
    hosts: [new URL(host).host],
    webhook: { events: [event] },
  };
  const { id: integrationId } = await ada.create(`/api/resources/teams/${teamId}/integrations`, integration);
  const lines = listItems(await ada.request("GET", `/api/resources/workspaces/${workspaceId}/lines`));
  const lineId = String(lines[0]?.id);
  const file = (name: string) => ({ name: `../${name}`, type: null, size: null, file: JSON.stringify(name) });
  const raise: RaiseTask = {
    type: "task.raise",
    deliveryId: "dlv_1",
    key: "dlv_1/0/0",
    integration: { id: integrationId, key: "tracker" },
    opens: { lineId, station: null, title: "It breaks", description: "", url: "", assigneeEmail: null },
    say: "",
    branch: null,
    marks: [{ kind: "issue", value: "1" }],
    channel: null,
    causes: [],
    attaches: { source: "webhook", event: 0, values: "{}", bodyDigest: null, files: [file("a.html"), file("gone")] },
    answerTo: reference<TaskRaised>("delivery")(workspaceId, "dlv_1"),
  };
  await service.runtime.ask(teamMarksRef(workspaceId, teamId), raise);
  const opened = () => tasks.list(service.runtime.reading, workspaceId)[0]?.id ?? "";
  await until("a task is opened", () => opened() !== "");
  const taskId = opened();
  type Shown = { readonly id: string; readonly name: string; readonly state: string; readonly reason: string | null };
  const shown = async () => (await place.task(taskId)).attachments as readonly Shown[];
  await place.when(`task/${taskId}`, async () => {
    const files = await shown();
    return files.length === 2 && files.every(({ state }) => state !== "waiting");
  });
  const [stored, failed] = await shown();
  t.match(
    [stored, failed],
    [
      { name: "a.html", state: "stored", type: "text/html", bytes: 13, reason: null },
      { name: "gone", state: "failed", reason: "it responded 404" },
    ],
  );
  const read = (id = "") => ada.request("GET", `/api/tasks/${taskId}/attachments/${id}`);
  const found = await ada.request("GET", `/api/find/${stored?.id}`);
  t.same(found.body, { kind: "attachment", slug: "acme", path: `/tasks/${taskId}` });
  const answer = await read(stored?.id);
  t.match(
    [answer.status, answer.text, answer.headers],
    [
      200,
      "<b>a.html</b>",
      {
        "content-type": "application/octet-stream",
        "x-content-type-options": "nosniff",
        "content-disposition": "attachment; filename*=UTF-8''a.html",
      },
    ],
  );
  t.equal((await read(failed?.id)).status, 404);

  const gitUrl = await layRepository(t);
  await startRealRunner(t, { url: service.baseUrl, token, gitUrl, command: ["/bin/sh", "-c", agent] });
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "done");
  const [run] = await place.runs(taskId);
  const steps = (await ada.request("GET", `/api/runs/${run?.id}/steps`)).text;
  t.match(steps, /a\.html=<b>a\.html<\/b>;/);
  const notes = (await place.task(taskId)).notes as readonly { readonly text: string }[];
  t.match(
    notes.map(({ text }) => text),
    ["The attachment gone could not be fetched: it responded 404."],
  );

  const stranger = await statusFor(`${service.baseUrl}/api/runner/attachments/${stored?.id}`, token);
  t.equal(stranger, 404, "to a runner that does not hold the run it is not there");
});

async function statusFor(url: string, token: string): Promise<number> {
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${token}`, "service-run": "run_1", "service-run-fence": "1" },
  });
  await answer.arrayBuffer();
  return answer.status;
}

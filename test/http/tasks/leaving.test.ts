import t, { type Test } from "tap";
import { join } from "../../support/people.js";
import { StreamReader } from "../../support/stream-reader.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

/** Opens two teams with one line each. Bob is a member of both teams, and has tasks in both. */
async function begin(t: Test) {
  const place = await openWorkplace(t);
  const within = `/api/resources/workspaces/${place.workspaceId}`;
  const other = await place.ada.create(`${within}/teams`, { key: "other", name: "Other" });
  const station = { key: "work", name: "Work", kind: "work" };
  await place.ada.create(`/api/resources/teams/${other.id}/lines`, {
    key: "dev",
    name: "Dev",
    repositories: [{ name: "acme/app" }],
    stations: [station],
  });
  const bob = await join(place.service, place.ada, "bob@example.com", { teams: [place.teamId, other.id] });
  const open = async (teamId: string) => {
    const body = { title: "Do it", line: "dev", assignee: bob.userId };
    return String((await place.ada.request("POST", `/api/teams/${teamId}/tasks`, body)).body?.id);
  };
  const tasks = { here: await open(place.teamId), there: await open(other.id), closed: await open(place.teamId) };
  await place.ada.request("POST", `/api/tasks/${tasks.closed}/close`, {});
  return { place, bob, otherTeamId: other.id, ...tasks };
}

const isNobodys = (place: Workplace, taskId: string) =>
  place.when(`task/${taskId}`, async () => (await place.task(taskId)).assignee === null);

t.test("open tasks of a person who leaves a team are unassigned; others stay", async (t) => {
  const { place, bob, here, there, closed } = await begin(t);
  const reader = await StreamReader.open(place.ada);
  t.teardown(async () => reader.end());
  reader.subscribe(`task/${here}`);
  await reader.until(({ kind }) => kind === "snapshot");
  const left = await bob.request("DELETE", `/api/teams/${place.teamId}/members/${bob.userId}`);
  t.equal(left.status, 204);
  await isNobodys(place, here);
  const text = "Its assignee left the team: the task now has no assignee.";
  t.match((await place.task(here)).notes, [{ from: "service", text }]);
  await reader.until(({ data }) => (data.task as { assignee?: unknown } | undefined)?.assignee === null);
  await reader.until(({ data }) => (data.note as { text?: unknown } | undefined)?.text === text);
  t.equal((await place.task(there)).assignee, bob.userId, "of another team");
  t.equal((await place.task(closed)).assignee, bob.userId, "there is nothing left to do");
  t.equal((await place.ada.request("POST", `/api/tasks/${here}/stop`, {})).status, 403);
  const { body } = await place.ada.request("GET", "/api/sessions/me");
  await place.ada.request("POST", `/api/tasks/${here}/assign`, { assignee: body?.userId });
  t.equal((await place.ada.request("POST", `/api/tasks/${here}/stop`, {})).status, 200);
});

t.test("a person removed from the workspace has no task there, and can be assigned none", async (t) => {
  const { place, bob, here, there, closed } = await begin(t);
  const removed = await place.ada.request("DELETE", `/api/workspaces/acme/members/${bob.userId}`);
  t.equal(removed.status, 204);
  for (const taskId of [here, there]) {
    await isNobodys(place, taskId);
    t.match((await place.task(taskId)).notes, [{ text: /left the workspace/ }]);
  }
  t.equal((await place.task(closed)).assignee, bob.userId);
  const refused = await place.ada.request("POST", `/api/tasks/${here}/assign`, { assignee: bob.userId });
  t.match(refused, { status: 422, body: { errors: [{ path: "assignee", message: "is not a member of this team" }] } });
  const opening = { title: "Do it", line: "dev", assignee: bob.userId };
  t.equal((await place.ada.request("POST", `/api/teams/${place.teamId}/tasks`, opening)).status, 422);
});

t.test("an approval for a person who left is answered by the person who takes the task over", async (t) => {
  const { place, bob, here } = await begin(t);
  const peer = await place.runner();
  const job = await peer.job();
  t.equal(job.task?.id, here);
  peer.start(job);
  peer.askPermission(job);
  await place.when(`task/${here}`, async () => (await place.task(here)).state === "inbox");
  await bob.request("DELETE", `/api/workspaces/acme/members/${bob.userId}`);
  await isNobodys(place, here);
  const [approval] = (await place.task(here)).approvals as { readonly id: string }[];
  const approve = () => place.ada.request("POST", `/api/runs/${job.runId}/approvals/${approval?.id}/approve`, {});
  t.match(await approve(), { status: 403, body: { detail: /has no assignee/ } });
  const { body } = await place.ada.request("GET", "/api/sessions/me");
  await place.ada.request("POST", `/api/tasks/${here}/assign`, { assignee: body?.userId });
  t.equal((await approve()).status, 200);
});

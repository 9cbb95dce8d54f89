import t from "tap";
import { z } from "zod";
import { join } from "../../support/people.js";
import { listItems } from "../../support/resources.js";
import type { Client } from "../../support/service.js";
import { openWorkplace } from "../../support/workplace.js";

const waiting = async (client: Client, query = "") => listItems(await client.request("GET", `/api/approvals${query}`));
const listHints = async (client: Client) => (await waiting(client)).map(({ taskId, hint }) => [taskId, hint]);

t.test("approvals of a task without an assignee are listed for its team, who assign it first", async (t) => {
  const place = await openWorkplace(t);
  const { ada, service, teamId } = place;
  const bob = await join(service, ada, "bob@example.com", { teams: [teamId] });
  const carl = await join(service, ada, "carl@example.com", { role: "admin" });
  const stranger = await service.signIn("stranger@example.com");
  const peer = await place.runner({ slots: 3 });
  const tasks: string[] = [];
  for (const assignee of [null, bob.userId, null]) {
    tasks.push(await place.open({ assignee }));
    const job = await peer.job();
    peer.start(job);
    peer.askPermission(job);
  }
  const [first = "", second = "", third = ""] = tasks;
  await place.until(async () => (await waiting(bob)).length === 3);
  const hint = "The task has no assignee: assign it first.";
  t.same(await listHints(bob), [
    [third, hint],
    [second, null],
    [first, hint],
  ]);
  t.same(await listHints(ada), [
    [third, hint],
    [first, hint],
  ]);
  t.same([await waiting(carl), await waiting(stranger)], [[], []], "not for who is on another team or none");
  const page = await waiting(bob, "?limit=2");
  t.same(
    [page.map(({ taskId }) => taskId), (await waiting(bob, `?before=${page[1]?.id}`)).map(({ taskId }) => taskId)],
    [[third, second], [first]],
  );

  const [{ id, runId, approver } = { id: "", runId: "", approver: "" }] = z
    .array(z.looseObject({ id: z.string(), runId: z.string(), approver: z.null() }))
    .parse((await waiting(ada)).slice(0, 1));
  t.equal(approver, null);
  const approve = () => ada.request("POST", `/api/runs/${runId}/approvals/${id}/approve`, {});
  t.match([(await approve()).status, (await approve()).body], [403, { detail: hint }]);
  await ada.request("POST", `/api/tasks/${third}/assign`, { assignee: (await readPerson(ada)).userId });
  t.same(await listHints(ada), [
    [third, null],
    [first, hint],
  ]);
  t.same(
    (await waiting(bob)).map(({ taskId }) => taskId),
    [second, first],
    "what has an assignee waits for nobody else",
  );
  t.equal((await approve()).status, 200);
  t.same(await listHints(ada), [[first, hint]]);
});

async function readPerson(client: Client): Promise<{ readonly userId: string }> {
  return z.looseObject({ userId: z.string() }).parse((await client.request("GET", "/api/sessions/me")).body);
}

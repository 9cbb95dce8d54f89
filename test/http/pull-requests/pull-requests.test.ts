import t from "tap";
import { createMemoryStore } from "../../../storage/memory-store.js";
import { personAt } from "../../support/people.js";
import { storePullRequest } from "../../support/pull-request-rows.js";
import { listItems, toProblem, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

t.test("a team's pull requests are listed and read, and the code host is asked what became of one", async (t) => {
  const store = createMemoryStore();
  const service = await startTestService(t, { store });
  const ann = await personAt(service, "ann@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ann);
  for (const [id, state] of [
    ["pr_00000000000000000000000001", "open"],
    ["pr_00000000000000000000000002", "merged"],
    ["pr_00000000000000000000000003", "open"],
  ] as const) {
    await storePullRequest(store, workspaceId, { id, teamId, state, reviewedCommits: ["a", "b"] });
  }
  await storePullRequest(store, workspaceId, {
    id: "pr_00000000000000000000000004",
    teamId,
    role: "own",
    state: "failed",
    taskId: "task_1",
  });
  const list = async (query: string) => {
    const reply = await ann.request("GET", `/api/teams/${teamId}/pull-requests${query}`);
    return [listItems(reply).map(({ id }) => id), reply.body?.next];
  };
  t.same(await list(""), [
    [
      "pr_00000000000000000000000004",
      "pr_00000000000000000000000003",
      "pr_00000000000000000000000002",
      "pr_00000000000000000000000001",
    ],
    null,
  ]);
  t.same(await list("?limit=2"), [
    ["pr_00000000000000000000000004", "pr_00000000000000000000000003"],
    "pr_00000000000000000000000003",
  ]);
  t.same(await list("?limit=2&before=pr_00000000000000000000000003"), [
    ["pr_00000000000000000000000002", "pr_00000000000000000000000001"],
    null,
  ]);
  t.same(await list("?state=open&role=people"), [
    ["pr_00000000000000000000000003", "pr_00000000000000000000000001"],
    null,
  ]);
  t.same(await list("?role=own"), [["pr_00000000000000000000000004"], null]);
  const wrong = await ann.request("GET", `/api/teams/${teamId}/pull-requests?state=gone`);
  t.match([wrong.status, toProblem(wrong).detail], [400, /state: must be one of vetting, pushing/]);

  const read = await ann.request("GET", "/api/pull-requests/pr_00000000000000000000000002");
  t.match(read.body, { id: "pr_00000000000000000000000002", state: "merged", author: "ann", rounds: 2 });
  t.same([read.body?.changed, read.body?.comments], [[], []]);
  t.equal((await ann.request("GET", "/api/pull-requests/pr_00000000000000000000000009")).status, 404);
  t.equal((await ann.request("POST", "/api/pull-requests/pr_00000000000000000000000001/refresh", {})).status, 200);
  const retried = await ann.request("POST", "/api/pull-requests/pr_00000000000000000000000001/retry", {});
  t.match([retried.status, retried.body], [409, { detail: "The pull request is open." }]);
});

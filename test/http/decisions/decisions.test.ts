import t, { type Test } from "tap";
import {
  type DraftDecisions,
  decisionSetRef,
  type MergeDecisions,
} from "../../../actors/decisions/decision-set.messages.js";
import { join, type Person } from "../../support/people.js";
import { bearer, listItems, workspaceWithTeam } from "../../support/resources.js";
import { type Client, startTestService, type TestService } from "../../support/service.js";

const LIST = "/api/workspaces/acme/decisions";

interface Office {
  readonly service: TestService;
  readonly ada: Client;
  readonly workspaceId: string;
  readonly teamId: string;
  /** Opens a task in a team, and drafts one decision per title about the files in `paths`. Returns the task's id. */
  readonly drafted: (teamId: string, paths: readonly string[], ...titles: readonly string[]) => Promise<string>;
  readonly merged: (taskId: string, repository: string, at: string) => Promise<void>;
  readonly team: (key: string) => Promise<string>;
}

async function openOffice(t: Test): Promise<Office> {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const stations = [{ key: "work", name: "Work", kind: "work", decisions: true }];
  const line = async (of: string) =>
    (await ada.create(`/api/resources/teams/${of}/lines`, { key: "dev", name: "Dev", stations })).id;
  const lines = new Map([[teamId, await line(teamId)]]);
  const tell = (taskId: string, message: DraftDecisions | MergeDecisions) =>
    service.runtime.ask(decisionSetRef(workspaceId, taskId), message);
  return {
    service,
    ada,
    workspaceId,
    teamId,
    team: async (key) => {
      const { id } = await ada.create(`/api/resources/workspaces/${workspaceId}/teams`, { key, name: key });
      lines.set(id, await line(id));
      return id;
    },
    drafted: async (of, paths, ...titles) => {
      const opened = await ada.request("POST", `/api/teams/${of}/tasks`, { title: "T", line: "dev" });
      const task = opened.status === 201 ? opened : null;
      if (task === null) throw new Error(opened.text);
      const taskId = String(task.body?.id);
      const decisions = titles.map((title) => ({ kind: "assumption", title, why: "It is so.", paths, steps: [1, 2] }));
      await tell(taskId, { type: "decisions.draft", runId: "run_1", decisions });
      return taskId;
    },
    merged: async (taskId, repository, at) => {
      const url = `https://code.example.com/${repository}/pull/1`;
      await tell(taskId, { type: "decisions.merged", repository, url, atMs: Date.parse(at) });
    },
  };
}

const listTitles = async (client: Client, query = ""): Promise<unknown[]> => {
  const reply = await client.request("GET", `${LIST}${query}`);
  if (reply.status !== 200) throw new Error(`${query} answered ${reply.status} ${reply.text}`);
  return listItems(reply).map(({ title }) => title);
};

t.test("a decision is listed once its pull request is merged, with all that is known of it", async (t) => {
  const { ada, teamId, drafted, merged } = await openOffice(t);
  t.same((await ada.request("GET", LIST)).body, { items: [], next: null });
  const taskId = await drafted(teamId, ["src/a.ts"], "Poll");
  t.same(await listTitles(ada), [], "a proposal does not stand yet");
  await merged(taskId, "acme/app", "2026-03-01T10:00:00Z");
  const [item] = listItems(await ada.request("GET", LIST));
  t.match(item, {
    id: /^dec_/,
    taskId,
    teamId,
    runId: "run_1",
    repository: "acme/app",
    standing: "stands",
    pullRequest: "https://code.example.com/acme/app/pull/1",
    kind: "assumption",
    title: "Poll",
    why: "It is so.",
    alternatives: { length: 0 },
    paths: ["src/a.ts"],
    steps: [1, 2],
    disputes: { length: 0 },
    mergedAt: "2026-03-01T10:00:00.000Z",
  });
  const found = await ada.request("GET", `/api/find/${item?.id}`);
  t.same(found.body, { kind: "decision", slug: "acme", path: `/tasks/${taskId}` });
});

t.test("a list is narrowed by repository, path and time of the merge, the latest first", async (t) => {
  const { ada, teamId, drafted, merged } = await openOffice(t);
  const made = [
    ["one", "acme/app", "2026-03-01T00:00:00Z", "src/a.ts"],
    ["two", "acme/web", "2026-03-02T00:00:00Z", "src/ui/b.ts"],
    ["three", "acme/app", "2026-03-03T00:00:00Z", "src/ui/c.ts"],
    ["four", "acme/app", "2026-03-04T00:00:00Z", "src/uix.ts"],
  ] as const;
  for (const [title, repository, at, path] of made) {
    await merged(await drafted(teamId, [path, "README.md"], title), repository, at);
  }
  const expected: Readonly<Record<string, readonly string[]>> = {
    "": ["four", "three", "two", "one"],
    "?repository=acme/app": ["four", "three", "one"],
    "?repository=acme/none": [],
    "?path=src/a.ts": ["one"],
    "?path=src/ui/": ["three", "two"],
    "?path=src/ui": [],
    "?path=README.md&repository=acme/web": ["two"],
    "?since=2026-03-02": ["four", "three", "two"],
    "?since=2026-03-02T00:00:00.001Z": ["four", "three"],
    "?until=2026-03-02": ["one"],
    "?until=2026-03-02T00:00:00.001Z": ["two", "one"],
    "?since=2026-03-02&until=2026-03-04": ["three", "two"],
    "?since=2026-03-02T01:00:00%2B01:00&until=2026-03-03&repository=acme/web": ["two"],
    "?since=1900-01-01": ["four", "three", "two", "one"],
    "?until=1900-01-01": [],
  };
  for (const [query, titles] of Object.entries(expected)) t.same(await listTitles(ada, query), titles, query);
});

t.test("pages follow one another without gaps or overlaps, with any filter", async (t) => {
  const { ada, teamId, drafted, merged } = await openOffice(t);
  for (let n = 0; n < 5; n++) {
    const taskId = await drafted(teamId, [n % 2 === 0 ? "even.ts" : "odd.ts"], `${n} a`, `${n} b`, `${n} c`);
    // Some decisions have exactly the same time.
    await merged(taskId, "acme/app", `2026-03-0${1 + Math.floor(n / 2)}T00:00:00Z`);
  }
  for (const narrowed of ["", "repository=acme/app&", "path=even.ts&", "since=2026-03-02&", "until=2026-03-03&"]) {
    const whole = await listTitles(ada, `?${narrowed}limit=200`);
    t.ok(whole.length > 5);
    for (const limit of [1, 2, 4]) {
      const seen: unknown[] = [];
      let next: unknown = "";
      for (let pages = 0; next !== null && pages < 40; pages++) {
        const reply = await ada.request(
          "GET",
          `${LIST}?${narrowed}limit=${limit}${next === "" ? "" : `&before=${next}`}`,
        );
        t.ok(listItems(reply).length <= limit);
        seen.push(...listItems(reply).map(({ title }) => title));
        next = reply.body?.next ?? null;
      }
      t.same(seen, whole, `${narrowed} by ${limit}`);
    }
  }
});

t.test("callers see the decisions of teams whose outcomes they may read", async (t) => {
  const { service, ada, workspaceId, teamId, team, drafted, merged } = await openOffice(t);
  const other = await team("other");
  await merged(await drafted(teamId, ["a.ts"], "of core"), "acme/app", "2026-03-01T00:00:00Z");
  await merged(await drafted(other, ["a.ts"], "of other"), "acme/app", "2026-03-02T00:00:00Z");
  const seen = async (who: Client | Person) => await listTitles(who);
  t.same(await seen(ada), ["of other", "of core"]);
  t.same(await seen(await join(service, ada, "teammate@example.com", { teams: [teamId] })), ["of core"]);
  t.same(await seen(await join(service, ada, "member@example.com")), []);
  t.same(await seen(await join(service, ada, "admin@example.com", { role: "admin" })), ["of other", "of core"]);
  t.same(await seen(await bearer(service, ada, { workspaceId, name: "r", scopes: ["read"] })), ["of other", "of core"]);
  const stranger = await service.signIn("stranger@example.com");
  t.equal((await stranger.request("GET", LIST)).status, 404);
});

t.test("an invalid query is refused with the expected form", async (t) => {
  const { ada } = await openOffice(t);
  const wrong: Readonly<Record<string, RegExp>> = {
    "repository=app": /repository: must be a repository as owner\/name/,
    "path=": /path: must not be empty/,
    "path=/src": /path: must be a path within the repository/,
    "since=yesterday": /since: must be an RFC 3339 time, or a day/,
    "since=2026-02-30": /since: must be an RFC 3339 time, or a day/,
    "until=1": /until: must be an RFC 3339 time, or a day/,
    "since=2026-03-02&until=2026-03-02": /until: must be later than since/,
    "before=dec_1": /before: must be the next of an earlier page/,
    "limit=201": /limit: must be at most 200/,
    "page=2": /page: is not a/,
  };
  for (const [query, detail] of Object.entries(wrong)) {
    const reply = await ada.request("GET", `${LIST}?${query}`);
    t.equal(reply.status, 400, `${query}: ${reply.text}`);
    t.match(reply.body?.detail, detail);
  }
});

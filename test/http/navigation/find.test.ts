import t from "tap";
import { openWorld, type World } from "../../contract/caller-world.js";
import type { Client } from "../../support/service.js";

interface Found {
  readonly kind: string;
  readonly path: string;
}

/**
 * The expected answers about the ids of the test's world. In a path, a name in braces is replaced by the id with this
 * name.
 */
const expected: Readonly<Record<string, Found>> = {
  workspaceId: { kind: "workspace", path: "/w/acme/inbox" },
  teamId: { kind: "team", path: "/w/acme/t/core" },
  lineId: { kind: "line", path: "/w/acme/t/core/lines/line-1" },
  stationId: { kind: "station", path: "/w/acme/t/core/lines/line-1" },
  integrationId: { kind: "integration", path: "/integrations/{integrationId}" },
  hookId: { kind: "hook", path: "/w/acme/configuration/hooks/{hookId}" },
  skills: { kind: "skill", path: "/w/acme/configuration/skills/{skills}" },
  "harness-profiles": { kind: "harness-profile", path: "/w/acme/configuration/harness-profiles/{harness-profiles}" },
  secrets: { kind: "secret", path: "/w/acme/configuration/secrets/{secrets}" },
  tokens: { kind: "workspace-token", path: "/w/acme/configuration/tokens/{tokens}" },
  "token-trusts": { kind: "workspace-token-trust", path: "/w/acme/configuration/token-trusts/{token-trusts}" },
  "runner-pools": { kind: "runner-pool", path: "/w/acme/configuration/runner-pools/{runner-pools}" },
  "runner-trusts": { kind: "runner-trust", path: "/w/acme/configuration/runner-trusts/{runner-trusts}" },
  "workspace-runners": {
    kind: "workspace-runners",
    path: "/w/acme/configuration/workspace-runners/{workspace-runners}",
  },
  "replay-candidates": {
    kind: "replay-candidate",
    path: "/w/acme/configuration/replay-candidates/{replay-candidates}",
  },
  taskId: { kind: "task", path: "/tasks/{taskId}" },
  runId: { kind: "run", path: "/runs/{runId}" },
  "pull-requests": { kind: "pull-request", path: "/pull-requests/{pull-requests}" },
  occurrence: { kind: "event", path: "/teams/{teamId}/events/{occurrence}" },
  "hook-occurrences": { kind: "hook-occurrence", path: "/teams/{teamId}/hook-occurrences/{hook-occurrences}" },
  setId: { kind: "replay-set", path: "/teams/{teamId}/replay-sets/{setId}" },
  replayId: { kind: "replay", path: "/teams/{teamId}/replays/{replayId}" },
  checkId: { kind: "replay-check", path: "/teams/{teamId}/replay-checks/{checkId}" },
  searchId: { kind: "search", path: "/teams/{teamId}/searches/{searchId}" },
  pullRequestId: { kind: "config-pull-request", path: "/teams/{teamId}/config-pull-requests/{pullRequestId}" },
  deliveryId: { kind: "delivery", path: "/integrations/{integrationId}/deliveries/{deliveryId}" },
  actionRunId: { kind: "action-run", path: "/integrations/{integrationId}" },
  inviteId: { kind: "invite", path: "/w/acme/people" },
};

/** Kinds that every caller in the workspace may read. Only some callers may read the other kinds. */
const readByAll: readonly string[] = [
  ...[
    "workspace",
    "team",
    "line",
    "station",
    "integration",
    "hook",
    "skill",
    "harness-profile",
    "secret",
    "workspace-token",
  ],
  ...["workspace-token-trust", "runner-pool", "runner-trust", "workspace-runners", "task"],
];

t.test("ids are found", async (t) => {
  const world: World = await openWorld(t);

  function asker(name: string): Client {
    const found = world.askers.find((one) => one.name === name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found.client;
  }

  function filled(path: string): string {
    return path.replace(/\{([^}]+)\}/g, (_, name: string) => world.ids[name] ?? "");
  }

  async function find(client: Client, id: string) {
    const { status, body } = await client.request("GET", `/api/find/${encodeURIComponent(id)}`);
    return status === 200 ? body : status;
  }

  t.test("an id of every kind leads to its page", async (t) => {
    const owner = asker("the owner");
    for (const [name, { kind, path }] of Object.entries(expected)) {
      t.same(await find(owner, world.ids[name] ?? ""), { kind, slug: "acme", path: filled(path) }, name);
    }
    const me = await owner.request("GET", "/api/sessions/me");
    t.same(await find(owner, String(me.body?.userId)), { kind: "person", slug: "acme", path: "/w/acme/people" });
  });

  t.test("the address of a page with its own read is that of the API", async (t) => {
    const owner = asker("the owner");
    const refused: string[] = [];
    for (const { kind, path } of Object.values(expected)) {
      if (path.startsWith("/w/") || kind === "integration" || kind === "action-run") continue;
      const address = `/api${filled(path)}${kind === "event" ? "/hooks" : ""}`;
      const { status } = await owner.request("GET", address);
      if (status !== 200) refused.push(`${address} ${status}`);
    }
    t.same(refused, []);
  });

  t.test("callers find exactly what they may read at its own address", async (t) => {
    for (const name of ["a member", "a member on the team", "a token to read", "an admin"]) {
      const client = asker(name);
      const wrong: string[] = [];
      for (const [of, { kind }] of Object.entries(expected)) {
        const sees = readByAll.includes(kind) ? true : kind === "invite" ? name === "an admin" : name !== "a member";
        const found = await find(client, world.ids[of] ?? "");
        if ((found === 404) === sees) wrong.push(`${kind}: ${JSON.stringify(found)}`);
      }
      t.same(wrong, [], name);
    }
  });

  t.test("ids of other workspaces, unknown ids and other text are all the same 404", async (t) => {
    const stranger = asker("a stranger");
    const token = asker("a token of elsewhere");
    const found: string[] = [];
    for (const id of Object.keys(expected).map((name) => world.ids[name] ?? "")) {
      if ((await find(stranger, id)) !== 404 || (await find(token, id)) !== 404) found.push(id);
    }
    t.same(found, []);
    const answers = new Set<string>();
    const hostile = ["task_01J0000000000000000000000Z", "x", "task_", "constructor_01J0000000000000000000000Z", "a/b"];
    for (const id of [
      world.ids.taskId ?? "",
      ...hostile,
      "occ_01J0000000000000000000000Z-AAAAAAAA",
      "~",
      "_".repeat(900),
    ]) {
      const { status, body } = await stranger.request("GET", `/api/find/${encodeURIComponent(id)}`);
      const { type, title, detail } = body ?? {};
      answers.add(JSON.stringify({ status, type, title, detail }));
    }
    t.equal(answers.size, 1, [...answers].join("\n"));
  });

  t.test("a token finds no people", async (t) => {
    const me = await asker("the owner").request("GET", "/api/sessions/me");
    t.equal(await find(asker("a token to configure"), String(me.body?.userId)), 404);
    t.equal(await find(asker("no credential"), world.ids.taskId ?? ""), 401);
  });
});

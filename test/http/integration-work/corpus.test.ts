import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import type { WebhookDefinition } from "@octokit/webhooks-examples";
import t from "tap";
import { startCodeHost } from "../../support/code-host.js";
import { expr } from "../../support/integration.js";
import { ManualClock } from "../../support/manual-clock.js";
import { listItems, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";
import { until } from "../../support/until.js";

/** The code host's sample payloads for all its events, posted with valid signatures. */

const definitions: readonly WebhookDefinition[] = createRequire(import.meta.url)("@octokit/webhooks-examples");
const corpus = definitions.flatMap(({ name, examples }, event) =>
  examples.map((example, index) => ({ name, guid: `${event}-${index}`, body: JSON.stringify(example) })),
);

const SECRET = "a key that its sender has, too";

/**
 * Opens a task for each issue and pull request. For each later event of the issue or pull request, adds a note to this
 * task.
 */
const webhook = {
  verify: { hmac: { secret: "host-key", header: "X-Hub-Signature-256", prefix: "sha256=" } },
  delivery: expr('headers["x-github-delivery"]'),
  events: [
    {
      when: expr("has(body.issue) || has(body.pull_request)"),
      raise: {
        say: expr("has(body.action) ? body.action : ''"),
        opens: { line: "dev", title: expr("has(body.issue) ? body.issue.title : body.pull_request.title") },
        marks: { url: { value: expr("has(body.issue) ? body.issue.url : body.pull_request.url") } },
      },
    },
  ],
};

t.test("no payload of a code host breaks a route; order, repeats and losses leave the same tasks", async (t) => {
  t.equal(corpus.length, 329);
  const clock = new ManualClock();
  const host = await startCodeHost(t, () => clock.now());
  const service = await startTestService(t, { clock, settings: host.settings });
  const owner = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  const other = await owner.create(`/api/resources/workspaces/${workspaceId}/teams`, { key: "other", name: "Other" });
  await owner.create(`/api/resources/workspaces/${workspaceId}/secrets`, {
    name: "host-key",
    value: SECRET,
    valueVersion: 1,
  });
  const integrate = async (team: string) => {
    const stations = [{ key: "work", name: "Work", kind: "work" }];
    await owner.create(`/api/resources/teams/${team}/lines`, { key: "dev", name: "Dev", stations });
    const fields = { integration: "host", name: "Host", webhook };
    const { id } = await owner.create(`/api/resources/teams/${team}/integrations`, fields);
    return `/api/integrations/${id}/deliveries`;
  };
  const deliver = async (at: string, deliveries: readonly (typeof corpus)[number][]) => {
    const statuses = deliveries.map(async ({ name, guid, body }) => {
      const signature = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
      const headers = { "x-github-event": name, "x-github-delivery": guid, "x-hub-signature-256": signature };
      return (await service.anonymous.request("POST", at, body, headers)).status;
    });
    return [...new Set(await Promise.all(statuses))];
  };
  const settled = (at: string) =>
    until("all deliveries are worked", async () => {
      // The deliveries arrive at once and form a burst. The burst ends when the clock advances.
      clock.advance(100);
      const states = ["accepted", "working", "waiting"].map((state) => owner.request("GET", `${at}?state=${state}`));
      return (await Promise.all(states)).every((reply) => listItems(reply).length === 0);
    });
  /** Returns a team's tasks as sorted texts of their titles and marks. */
  const tasks = async (team: string) => {
    const found: string[] = [];
    for (let path: string | null = `/api/teams/${team}/tasks?limit=100`; path !== null; ) {
      const page = await owner.request("GET", path);
      found.push(...listItems(page).map(({ title, marks }) => JSON.stringify({ title, marks })));
      const next: unknown = page.body?.next;
      path = typeof next === "string" ? `/api/teams/${team}/tasks?limit=100&after=${next}` : null;
    }
    return found.sort();
  };

  const codeHost = corpus.map(async ({ name, guid, body }) => {
    const headers = host.deliveryHeaders(name, body, guid);
    return (await service.anonymous.request("POST", "/api/code-host/deliveries", body, headers)).status;
  });
  t.same([...new Set(await Promise.all(codeHost))], [204], "the code host's own route");

  const first = await integrate(teamId);
  t.same(await deliver(first, corpus), [202]);
  await settled(first);
  const opened = await tasks(teamId);
  t.ok(opened.length > 5, `${opened.length} tasks`);

  const second = await integrate(other.id);
  const about = corpus.filter(({ body }) => /"(issue|pull_request)":/.test(body));
  const shuffled = about.map((one, index) => ({ one, at: (index * 7_919) % 104_729 })).sort((a, b) => a.at - b.at);
  const order = shuffled.map(({ one }) => one);
  const kept = order.filter((_, index) => index % 3 !== 0);
  t.same(await deliver(second, [...kept, ...kept]), [202], "a third is lost, the rest comes twice");
  t.same(await deliver(second, order.toReversed()), [202], "what was lost is sent again, with all the rest");
  await settled(second);
  t.same(new Set((await tasks(other.id)).map(toMarks)), new Set(opened.map(toMarks)));
  t.equal((await tasks(other.id)).length, opened.length);
  t.equal(service.logLines.filter((line) => line.includes('"level":"error"')).length, 0);
});

/**
 * Returns a task's marks without its title: if an issue has several titles, the first delivery decides the task's
 * title.
 */
function toMarks(task: string): string {
  return JSON.stringify((JSON.parse(task) as { marks: unknown }).marks);
}

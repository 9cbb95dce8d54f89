import t, { type Test } from "tap";
import { join } from "../../support/people.js";
import { bearer, workspaceWithTeam } from "../../support/resources.js";
import { type Client, startTestService } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";

const base = "/api/resources";
const work = { key: "work", name: "Work", kind: "work", prompt: "Work." };

/**
 * Follows a topic. Returns a function that resolves with the kinds of the changed resources, once a hook has changed.
 */
async function toldOn(t: Test, client: Client, topic: string): Promise<() => Promise<readonly string[]>> {
  const reader = await StreamReader.open(client);
  t.teardown(async () => reader.end());
  reader.subscribe(topic);
  await reader.until(({ kind }) => kind === "snapshot");
  const toResource = (data: Readonly<Record<string, unknown>>) =>
    String((data.change as { readonly resource?: unknown } | undefined)?.resource);
  return async () => {
    await reader.until(({ kind, data }) => kind === "change" && toResource(data) === "hook");
    return reader.messages.filter(({ kind }) => kind === "change").map(({ data }) => toResource(data));
  };
}

t.test("a stream publishes resources for readers of outcomes to them only", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const line = await ada.create(`${base}/teams/${teamId}/lines`, { key: "dev", name: "Dev", stations: [work] });
  const onTeam = await join(service, ada, "bob@example.com", { teams: [teamId] });
  const elsewhere = await join(service, ada, "eve@example.com");
  const token = await bearer(service, ada, { workspaceId, name: "reads", scopes: ["read"] });
  const candidates = `${base}/lines/${line.id}/stations/work/replay-candidates`;
  const list = `${base}/workspaces/${workspaceId}/replay-candidates`;

  const team = `team/${teamId}`;
  const workspace = `workspace/${workspaceId}`;
  const readers = {
    "the owner": await toldOn(t, ada, workspace),
    "a token": await toldOn(t, token, workspace),
    "who is on the team": await toldOn(t, onTeam, team),
    "who is on no team, of the workspace": await toldOn(t, elsewhere, workspace),
    "who is on no team, of the team": await toldOn(t, elsewhere, team),
  };
  await ada.create(candidates, { name: "Other words", station: { ...work, prompt: "Work well." } });
  t.same((await elsewhere.request("GET", list)).body, { items: [] });
  const url = "https://example.com/hook";
  const hook = { key: "tell", on: "task.opened", steps: [{ name: "tell", request: { url, from: "network" } }] };
  const signing = { secret: `whsec_${Buffer.alloc(24).toString("base64")}`, secretVersion: 1 };
  await ada.create(`${base}/teams/${teamId}/hooks`, { ...hook, signing });

  for (const [who, told] of Object.entries(readers)) {
    const sees = !who.startsWith("who is on no team");
    t.same(await told(), sees ? ["replay-candidate", "hook"] : ["hook"], who);
  }
});

import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import t from "tap";
import { readCommands } from "../../support/page-commands.js";
import { listItems, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";
import { until } from "../../support/until.js";

/** The commands on the pages of shipped integrations are sent as printed. Nothing is sent to their hosts. */

/** The page's placeholder for the secret that signs deliveries; tests use it as the secret itself. */
const SECRET = "<the signing secret>";

/** Returns the body that the shell makes of the page's `BODY='…'`, at a time in seconds. */
async function readBody(page: string, seconds: number): Promise<string> {
  const [, written = ""] = /^ {4}BODY=('.*?')(?: AT=.*)?$/ms.exec(await readFile(page, "utf8")) ?? [];
  return written.replace("'$(date +%s)'", `${seconds}`).replace(/^'|'$/g, "");
}

const sign = (content: string) => createHmac("sha256", SECRET).update(content).digest("hex");

t.test("each page leads to an integration that can be tried", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(owner);
  const work = { key: "work", name: "Work", kind: "work" };
  const line = { key: "fix", name: "Fix", repositories: [{ name: "acme/app" }], stations: [work] };
  const addresses: Record<string, string> = {};
  for (const name of ["tracker", "chat", "issues"]) {
    const commands = await readCommands(`docs/integrations/${name}/README.md`);
    t.ok(commands.length > 3);
    let integrationId = "";
    for (const [index, { method, path, headers, body }] of commands.entries()) {
      // A page can define one integration twice, as alternatives. Each definition gets its own team, so that both can
      // be created.
      const { id: teamId } = await owner.create(`/api/resources/workspaces/${workspaceId}/teams`, {
        key: `${name}-${index}`,
        name,
      });
      await owner.create(`/api/resources/teams/${teamId}/lines`, line);
      const at = path
        .replace("<workspace id>", workspaceId)
        .replace("<team id>", teamId)
        .replace("<integration id>", integrationId);
      const reply = await owner.request(method, at, body, { "idempotency-key": `${name}-${index}`, ...headers });
      t.ok(reply.status >= 200 && reply.status < 300, `${method} ${at} answering ${reply.status} ${reply.text}`);
      if (path.endsWith("/integrations")) {
        integrationId = String(reply.body?.id);
        addresses[name] = `/api/integrations/${integrationId}/deliveries`;
      }
      if (path.endsWith("/try")) t.match(reply.body, { state: "done", entries: [{ outcome: "opened" }] }, name);
    }
  }

  const seconds = Math.floor(service.runtime.clock.now() / 1_000);
  const { tracker = "", chat = "" } = addresses;
  const issue = await readBody("docs/integrations/tracker/README.md", seconds);
  const signed = { "linear-signature": sign(issue) };
  t.equal((await service.anonymous.request("POST", tracker, issue, signed)).status, 200);
  await until("the signed issue to open a task", async () => {
    const { items } = (await owner.request("GET", `${tracker}?state=done`)).body ?? {};
    return Array.isArray(items) && items.length === 1;
  });
  const question = await readBody("docs/integrations/chat/README.md", seconds);
  const answered = await service.anonymous.request("POST", chat, question, {
    "x-slack-request-timestamp": String(seconds),
    "x-slack-signature": `v0=${sign(`v0:${seconds}:${question}`)}`,
  });
  t.same([answered.status, JSON.parse(answered.text)], [200, { challenge: "hello" }]);
});

t.test("what the page of all of them tells is sent as it stands there", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  const station = { key: "work", name: "Work", kind: "work" };
  await owner.create(`/api/resources/teams/${teamId}/lines`, { key: "fix", name: "Fix", stations: [station] });
  for (const name of ["tracker-key", "tracker-webhook"]) {
    const secret = { name, value: SECRET, valueVersion: 1 };
    await owner.create(`/api/resources/workspaces/${workspaceId}/secrets`, secret);
  }
  const definition = JSON.parse(await readFile("docs/integrations/tracker/integration.json", "utf8"));
  const { id } = await owner.create(`/api/resources/teams/${teamId}/integrations`, definition);
  const at = `/api/integrations/${id}/deliveries`;
  const issue = await readBody("docs/integrations/tracker/README.md", Math.floor(service.runtime.clock.now() / 1_000));
  const sent = await service.anonymous.request("POST", at, issue, { "linear-signature": sign(issue) });
  t.equal(sent.status, 200);
  const listed = async (path: string) => listItems(await owner.request("GET", path));
  await until("the issue to open a task", async () => (await listed(`${at}?state=done`)).length === 1);
  const [[delivery], [task]] = [await listed(at), await listed(`/api/teams/${teamId}/tasks`)];
  const ids: Readonly<Record<string, unknown>> = {
    "<workspace id>": workspaceId,
    "<integration id>": id,
    "<delivery id>": delivery?.id,
    "<task id>": task?.id,
    "<user id>": (await owner.request("GET", "/api/sessions/me")).body?.userId,
  };
  const named = (text: string) => text.replace(/<[a-z]+ id>/g, (name) => String(ids[name]));
  const commands = await readCommands("docs/integrations/README.md");
  t.ok(commands.length > 9);
  for (const [index, { method, path, headers, body }] of commands.entries()) {
    const given = body === undefined ? undefined : named(body);
    const reply = await owner.request(method, named(path), given, { "idempotency-key": `page-${index}`, ...headers });
    // No agent has asked a question, so the service refuses an answer with 409.
    const isAsExpected = path.endsWith("/answer") ? reply.status === 409 : reply.status >= 200 && reply.status < 300;
    t.ok(isAsExpected, `${method} ${path} answering ${reply.status} ${reply.text}`);
  }
});

import t from "tap";
import { readCommands } from "../../support/page-commands.js";
import { workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

/** The commands of the pages of shipped integrations are sent as they stand there. Nothing is sent to their hosts. */

t.test("each page leads to an integration that can be tried", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(owner);
  const work = { key: "work", name: "Work", kind: "work" };
  const line = { key: "fix", name: "Fix", repositories: [{ name: "acme/app" }], stations: [work] };
  for (const name of ["tracker", "chat", "issues"]) {
    const commands = await readCommands(`docs/integrations/${name}/README.md`);
    t.ok(commands.length > 3);
    let integrationId = "";
    for (const [index, { method, path, headers, body }] of commands.entries()) {
      // A definition on a page that has two stands in the place of the other.
      const { id: teamId } = await owner.create(`/api/resources/workspaces/${workspaceId}/teams`, {
        ...{ key: `${name}-${index}`, name },
      });
      await owner.create(`/api/resources/teams/${teamId}/lines`, line);
      const at = path
        .replace("<workspace id>", workspaceId)
        .replace("<team id>", teamId)
        .replace("<integration id>", integrationId);
      const reply = await owner.request(method, at, body, { "idempotency-key": `${name}-${index}`, ...headers });
      t.ok(reply.status >= 200 && reply.status < 300, `${method} ${at} answering ${reply.status} ${reply.text}`);
      if (path.endsWith("/integrations")) integrationId = String(reply.body?.id);
      if (path.endsWith("/try")) t.match(reply.body, { state: "done", entries: [{ outcome: "opened" }] }, name);
    }
  }
});

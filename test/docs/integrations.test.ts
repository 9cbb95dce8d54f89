import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type AuthorizationServerPeer, CLIENT, startAuthorizationServer } from "../support/authorization-server.js";
import { comeBack } from "../support/connection-scene.js";
import { openDocsScene } from "../support/docs-scene.js";
import { listItems } from "../support/resources.js";

/** Follows the pages of `docs/integrations/`. Nothing is sent to the hosts of the definitions. */

const FOLDER = "docs/integrations";

/** Opens a service, and a reader who has a copy of the folder, the secrets of all pages, and a session for curl. */
async function openScene(t: Test, host: AuthorizationServerPeer) {
  const settings = { OUTBOUND_ALLOW: host.url, BASE_URL: "https://signalbox.example" };
  const place = await openDocsScene(t, { settings });
  const { ada, teamId, reader } = place;
  const stations = [{ key: "work", name: "Work", kind: "work" }];
  await ada.create(`/api/resources/teams/${teamId}/lines`, { key: "fix", name: "Fix", stations });
  cpSync(FOLDER, join(reader.repository, FOLDER), { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(reader.repository, name), text);
  for (const name of ["tracker-key", "tracker-webhook", "chat-token", "chat-signing", "issues-token", "issues-webhook"])
    write(`${name}.txt`, `the ${name}\n`);
  write("client-secret.txt", CLIENT.secret);
  write("jar", `127.0.0.1\tFALSE\t/\tFALSE\t0\t${ada.credentials.cookie?.replace("=", "\t")}\n`);
  return place;
}

t.test("each shipped integration is created, tried and used, and a person links an account", async (t) => {
  const host = await startAuthorizationServer(t);
  const { ada, teamId, reader, ...place } = await openScene(t, host);
  const values = {
    ...place.values,
    "https://linear.app/oauth/authorize": `${host.url}/auth`,
    "https://api.linear.app/oauth/token": `${host.url}/token`,
    '"api.linear.app", "linear.app"': `"${host.host}"`,
    "linear-client --host api.linear.app": `linear-client --host ${host.host}`,
    '["read", "write"]': '["openid", "offline_access"]',
    "https://api.linear.app/graphql": `${host.url}/graphql`,
  };
  const ended: { readonly code: string; readonly out: string }[] = [];
  const outputOf = (part: string) => ended.find(({ code }) => `${code}\n`.includes(part))?.out ?? "";
  const follow = (page: string) =>
    reader.follow(`${FOLDER}/${page}`, {
      values,
      before: async ({ code }) => {
        if (!code.includes("delivery list")) return;
        for (const name of ["tracker", "chat", "issues"]) await follow(`${name}/README.md`);
      },
      after: async ({ code }, { out }) => {
        ended.push({ code, out });
        if (!code.includes("connections/me -d")) return;
        const linked = await comeBack(ada, await host.visit(out.trim(), { account: "ada@host" }));
        t.equal(linked.status, 200, linked.text);
      },
    });
  await follow("README.md");
  for (const name of ["tracker", "chat", "issues"]) {
    const tried = JSON.parse(outputOf(`deliveries/try -d @${FOLDER}/${name}/`));
    t.match(tried, { state: "done", entries: [{ outcome: "opened", taskId: null }] }, `${name} would open a task`);
    t.match(
      outputOf(`@${FOLDER}/${name}/integration.json`),
      /^https:\/\/signalbox\.example\/api\/integrations\/int_\w+\/deliveries$/m,
    );
  }
  t.match(outputOf("linear-signature"), /^HTTP\/1\.1 200 OK/);
  t.match(
    outputOf("delivery list"),
    /webhook +done +try-1[\s\S]*^0 +- +opened +task_/m,
    "the signed delivery opened a task",
  );
  t.same(JSON.parse(outputOf("x-slack-signature")), { challenge: "hello" });
  t.match(outputOf("poll/now"), /"state":"asking"/);
  t.match(outputOf("delivery redeliver"), /^source +redelivery$[\s\S]*^0 +- +said +task_/m);
  t.match(JSON.parse(outputOf("action-runs")), { items: [{ action: "report", event: "task.opened" }] });
  t.match(outputOf("task assign me"), /^assigned to ada: ENG-1: Login fails/);
  t.match(JSON.parse(outputOf("me $S/api/integrations/$ACCOUNTS/connections/me\n")), {
    own: { state: "connected" },
    isReady: true,
  });
  t.match(outputOf("delivery try"), /^event 0: opened\n +title: ENG-2: Logout fails$/m);
  t.same(JSON.parse(outputOf("expressions/check")), { type: "bool", errors: [], warnings: [] });
  const tasks = listItems(await ada.request("GET", `/api/teams/${teamId}/tasks`));
  t.match(tasks, [{ title: "ENG-1: Login fails" }]);
  t.equal(tasks.length, 1, "trying opens no task");
});

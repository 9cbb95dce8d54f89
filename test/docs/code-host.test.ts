import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { startCodeHost } from "../support/code-host.js";
import { adaThere, comeBack, install } from "../support/code-host-scene.js";
import { openDocsScene } from "../support/docs-scene.js";
import { readBlocks } from "../support/page-blocks.js";
import { startRealRunner } from "../support/real-runner.js";
import { listItems } from "../support/resources.js";
import { until } from "../support/until.js";

/** Follows `docs/code-host.md` with a code host, real git and a real runner. */

const PAGE = "docs/code-host.md";
/** Git's variables for the reader, whose new clone has no name in its config. */
const env = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
};
const AGENT = 'echo "mended" >> login.txt';

t.test("a workspace is connected, a task's change is merged, and the config gets a source", async (t) => {
  const host = await startCodeHost(t);
  install(host, 7, { id: 9_001, login: "acme", type: "Organization" });
  host.repositories.set(7, ["acme/app", "acme/infra"]);
  const app = await host.work.addRepository("acme/app", { "login.txt": "broken\n" });
  const infra = await host.work.addRepository("acme/infra", { "README.md": "Our workspace.\n" });
  const work = { key: "work", name: "Work", kind: "work", runners: { pool: "main" } };
  const place = await openDocsScene(t, { settings: host.settings, stations: [work], env });
  const { service, ada, token, reader, values, workspaceId, teamId } = place;
  host.hooks.url = `${service.baseUrl}/api/code-host/deliveries`;
  host.work.tell = (event) => void host.hooks.send(event);
  const gitUrl = join(await host.work.folder, "{name}.git");
  await startRealRunner(t, { url: service.baseUrl, token, gitUrl, command: ["/bin/sh", "-c", AGENT] });
  const session = ada.credentials.cookie?.replace("=", "\t");
  writeFileSync(join(reader.repository, "jar"), `127.0.0.1\tFALSE\t/\tFALSE\t0\t${session}\n`);

  const fragments = readBlocks(readFileSync(PAGE, "utf8"), PAGE).filter(({ language }) => language === "hcl");
  const addToLine = (file: string, fragment: number) => {
    const path = join(reader.repository, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace(/^ {2}repositories = /m, `${fragments[fragment]?.code}\n$&`));
  };
  const ended: { readonly code: string; readonly out: string }[] = [];
  await reader.follow(PAGE, {
    values: { ...values, "https://github.com": `file://${await host.work.folder}` },
    before: ({ code }) => {
      if (code.includes("apply acme")) addToLine("acme/main.tf", 0);
      if (code.includes("apply infra")) addToLine("infra/main.tf", 1);
    },
    after: async ({ code }, { out }) => {
      ended.push({ code, out });
      if (!code.includes("INSTALLATION=")) return;
      const connected = await comeBack(ada, await host.signIn(out.trim(), adaThere));
      t.equal(connected.status, 200, connected.text);
    },
  });
  const outputOf = (part: string) => ended.find(({ code }) => code.includes(part))?.out ?? "";
  t.match(outputOf("connections/$INSTALLATION"), /"state":"connected"[\s\S]*"name":"acme\/app"/);

  const [pull] = host.work.pulls;
  if (pull === undefined) throw new Error("no pull request was opened");
  t.match(outputOf("task open"), /done/);
  t.match(pull, { title: "Fix the login", base: "main" });
  t.match(pull.head, /^signalbox\/[0-9a-z]{8}-fix-the-login$/);
  t.equal((await app.files((await app.head(pull.head)) ?? ""))["login.txt"], "broken\nmended");
  t.match(outputOf("task show"), `/acme/app/pull/${pull.number}`);
  t.match(JSON.parse(outputOf("pull-requests/$PULL/refresh")), { state: "open", number: pull.number });

  const [line] = listItems(await ada.request("GET", `/api/resources/workspaces/${workspaceId}/lines`));
  t.match(line, { pullRequests: { open: "finish", draft: true, base: "main" } });
  t.match(line, { source: { repository: "acme/infra", path: "main.tf" } });
  t.match(await infra.files("main"), { "main.tf": /source = \{\n +repository = "acme\/infra"/ });

  await host.work.merge(pull, adaThere);
  await until("the service knows of the merge by a webhook", async () => {
    const listed = listItems(await ada.request("GET", `/api/teams/${teamId}/pull-requests`));
    return listed.some(({ state }) => state === "merged");
  });
});

t.test("the settings of the page are those of the service", async (t) => {
  const host = await startCodeHost(t);
  const shown = readBlocks(readFileSync(PAGE, "utf8"), PAGE).find(({ language }) => language === "ini")?.code ?? "";
  const names = [...shown.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  t.same(new Set(names), new Set(Object.keys(host.settings).filter((name) => name !== "CODE_HOST_WEB_URL")));
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { type Client, createClient } from "../../http/client/entry.js";
import { readLogin } from "../support/dev-scene.js";
import { hookReceiver } from "../support/hook-receiver.js";
import { expr } from "../support/integration.js";
import { readBlocks } from "../support/page-blocks.js";
import { openReader, type Reader } from "../support/reader.js";
import { startRealRunner } from "../support/real-runner.js";
import { inRepository, layRepository } from "../support/repository.js";
import { until } from "../support/until.js";
import { openWorkplace } from "../support/workplace.js";

const PAGE = "docs/agents.md";

/**
 * A program that replaces a coding agent. It takes a prompt on standard input, edits a file and prints what it does.
 */
const CODING_AGENT = `#!/bin/sh
prompt=$(cat)
printf '%s\\n' "$prompt" | grep '^# Task'
echo help > HELP.md
`;

/** A client of `signalbox dev`, with the reader's sign-in. */
function toClient({ home, repository }: Reader): Client {
  const { url: baseUrl, cookie } = readLogin({ signalbox: { home }, repository });
  return createClient({ baseUrl, cookie });
}

/** Returns one text for each task title: the task's state, then the texts of all steps of the task's runs. */
async function readSteps(client: Client): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {};
  for (const { id: workspaceId } of (await client.get("/api/resources/workspaces")).items) {
    const path = { workspaceId };
    const [team] = (await client.get("/api/resources/workspaces/{workspaceId}/teams", { path })).items;
    const tasks = await client.get("/api/teams/{teamId}/tasks", { path: { teamId: team?.id ?? "" } });
    for (const { id: taskId, title, state } of tasks.items) {
      const runs = await client.get("/api/tasks/{taskId}/runs", { path: { taskId } });
      const steps = runs.items.map(({ id }) => client.get("/api/runs/{runId}/steps", { path: { runId: id } }));
      const lines = (await Promise.all(steps)).flatMap(({ items }) => items.map(({ text }) => text));
      texts[title] = [state, ...lines].join("\n");
    }
  }
  return texts;
}

/**
 * Resolves when the inbox of `signalbox dev` has an item of this kind. For null, resolves when the service returns the
 * inbox.
 */
function untilInbox(reader: Reader, kind: "question" | "approval" | null): Promise<unknown> {
  return until(`the inbox to have ${kind ?? "an answer"}`, async () => {
    try {
      const { items } = await toClient(reader).get("/api/inbox");
      return kind === null || items.some((item) => item.kind === kind);
    } catch {
      return false;
    }
  });
}

t.test("the page's agents work tasks: they ask, request permission, hand over and change files", async (t) => {
  const reader = openReader(t, { env: { PORT: "0" } });
  writeFileSync(join(reader.home, "coding-agent"), CODING_AGENT, { mode: 0o755 });
  await reader.run('PATH="$HOME:$PATH"');
  const seen: string[] = [];
  await reader.follow(PAGE, {
    before: async ({ code, isBackground }) => {
      if (isBackground) await reader.endBackground();
      if (/^signalbox (inbox|task answer)/.test(code)) await untilInbox(reader, "question");
      if (code.startsWith("signalbox run approve")) await untilInbox(reader, "approval");
    },
    after: async ({ isBackground }, { out }) => {
      if (isBackground) await untilInbox(reader, null);
      else seen.push(out);
    },
  });
  const shown = seen.join("");
  t.match(shown, /question .* Is this added, changed or fixed\?/);
  t.match(shown, /approved shell \{"command":"git log -1 --format=%s"\}/);
  t.match(shown, /done\n.*\+- Added: A dark mode/s);
  const steps = await readSteps(toClient(reader));
  t.match(steps["A dark mode"], /^done\nThe changelog has the entry\.\nBegin\n+Added an entry/);
  t.match(steps["A help page"], /^done\n.*# Task: A help page/s);
  if ((await reader.run("command -v python3")).code !== 0) return;
  t.match(shown, /\+- Changed: A light mode/);
  t.match(steps["A light mode"], /^done\nChecked by Python\./);
});

t.test("the page's agent calls a tool of its station over MCP", async (t) => {
  const tracker = await hookReceiver(t, (response) => response.end('{"title":"Login fails"}'));
  const place = await openWorkplace(t, { settings: { OUTBOUND_ALLOW: tracker.url } });
  const { ada, teamId, token, service } = place;
  const { host } = new URL(tracker.url);
  await ada.create(`/api/resources/teams/${teamId}/integrations`, {
    integration: "tracker",
    name: "Tracker",
    hosts: [host],
    actions: { find: { request: { method: "GET", url: `http://${host}/find`, query: { q: expr("inputs.query") } } } },
    tools: {
      find: { action: "find", inputs: { query: { required: true } }, output: expr("response.title") },
    },
  });
  const work = { key: "work", name: "Work", kind: "work", tools: ["tracker.find"] };
  const line = { key: "tools", name: "Tools", repositories: [{ name: "acme/app" }], stations: [work] };
  await ada.create(`/api/resources/teams/${teamId}/lines`, line);

  const folder = mkdtempSync(join(tmpdir(), "signalbox-agents-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  layRepository(join(folder, "app"));
  for (const { title, code } of readBlocks(readFileSync(PAGE, "utf8"), PAGE)) {
    if (title !== null) writeFileSync(join(folder, title), code);
  }
  const command = [process.execPath, join(folder, "tool-agent.mjs")];
  await startRealRunner(t, { url: service.baseUrl, token, gitUrl: `file://${folder}/app`, command });
  const taskId = await place.open({ line: "tools" });
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "done");
  const [run] = await place.runs(taskId);
  t.match((await ada.request("GET", `/api/runs/${run?.id}/steps`)).text, /Login fails/);
  t.equal(inRepository(join(folder, "app"), "status", "--short"), "", "nothing changed");
});

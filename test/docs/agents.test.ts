import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { createClient } from "../../http/client/entry.js";
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

/** A stand-in for a coding agent: it takes a prompt on standard input, edits a file and prints what it does. */
const CODING_AGENT = `#!/bin/sh
prompt=$(cat)
printf '%s\\n' "$prompt" | grep '^# Task'
echo help > HELP.md
`;

/** Resolves with the inbox of `signalbox dev` when it has an item of this kind, or with an empty one for null. */
function untilInbox({ home, repository }: Reader, kind: "question" | "approval" | null): Promise<unknown> {
  return until(`the inbox to have ${kind ?? "an answer"}`, async () => {
    try {
      const { url: baseUrl, cookie } = readLogin({ signalbox: { home }, repository });
      const { items } = await createClient({ baseUrl, cookie }).get("/api/inbox");
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
  t.match(shown, /The changelog has the entry\..*done.*\+- Added: A dark mode/s);
  if ((await reader.run("command -v python3")).code === 0) {
    t.match(shown, /Checked by Python\..*done.*\+- Changed: A light mode/s);
  }
  t.match(shown, /# Task: A help page.*done/s);
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

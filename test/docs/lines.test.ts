import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { listSteps, openDocsScene } from "../support/docs-scene.js";

/**
 * An agent that prints its arguments, variables, skills and tools. When it reviews a task for the first time, it sends
 * the task back.
 */
const AGENT = `#!/bin/sh
echo "$SIGNALBOX_STATION: $* $LOG_LEVEL $NPM_TOKEN"
if [ "$SIGNALBOX_STATION" = review ] && ! grep -q 'Not yet' "$SIGNALBOX_TASK_FILE"; then
  echo '{"type":"handover","to":"work","note":"Not yet."}'
  read -r answer
  exit 0
fi
[ "$SIGNALBOX_STATION" = review ] || cat "$SIGNALBOX_SKILLS/test-style/SKILL.md"
node -p 'Object.keys(JSON.parse(require("fs").readFileSync(process.env.SIGNALBOX_MCP_CONFIG)).mcpServers)'
`;

t.test(
  "the page leads to a line with a review, a check, a skill, a profile and tools, and to a changed line",
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-lines-"));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const agent = join(folder, "fix");
    writeFileSync(agent, AGENT, { mode: 0o755 });
    const settings = { OUTBOUND_ALLOW: "api.example.com" };
    const place = await openDocsScene(t, { settings, agent: [agent] });
    const { ada, teamId, reader, values } = place;
    const request = { url: "https://api.example.com/" };
    await ada.create(`/api/resources/teams/${teamId}/integrations`, {
      integration: "tracker",
      name: "Tracker",
      hosts: ["api.example.com"],
      actions: { ask: { request } },
      tools: { find: { action: "ask" }, comment: { action: "ask" } },
    });

    const shown: string[] = [];
    await reader.follow("docs/lines.md", {
      values: { ...values, "/opt/agents/fix": agent },
      after: (_block, { out, err }) => void shown.push(out + err),
    });
    const [created, applied, secret, tools, followed, , warnings] = shown;
    t.match(created, /line +fix \(work, review\) \(created\)/);
    t.match(applied, "changed line core/fix");
    t.match(secret, "created the secret npm-token");
    t.match(tools, /2 to create, 1 to change, 0 to delete/);
    t.match(followed, /station work: The tests fail\n.*Not yet\..*done/s);
    const worked = ["work: --careful debug ***", "Name each test after the promise that it checks.", "[ 'tracker' ]"];
    t.same(await listSteps(place), [...worked, "review:", ...worked, "review:", "[]"]);
    t.match(warnings, /etag: "1".*stations\[1\]: no station passes to answer/s);
    t.same((await ada.request("GET", "/api/workspaces/acme/search?q=triage")).body?.items, [], "the line is deleted");
  },
);

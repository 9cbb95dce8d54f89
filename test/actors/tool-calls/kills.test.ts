import t from "tap";
import { openCalls } from "../../../actors/runs/open-call.table.js";
import { effectSpace, undeliveredSpace } from "../../../storage/keys.js";
import { ToolCallWorld } from "../../support/tool-call-world.js";
import { workspaceId } from "../../support/work.js";

/**
 * For each scene, the call of the agent and the action of the run's assignee. After a kill, both are repeated
 * unchanged.
 */
const scenes: Readonly<Record<string, { readonly tool: string; readonly inputs: object; readonly edited?: string }>> = {
  "a call that nobody approves": { tool: "note", inputs: { text: "Hi" } },
  "a call that is approved": { tool: "comment", inputs: { text: "Hi" } },
  "a call that is edited": { tool: "comment", inputs: { text: "Hi" }, edited: '{"text":"Better"}' },
  "a GET": { tool: "find", inputs: {} },
};

interface Kill {
  readonly commit: number;
  readonly when: "before" | "after";
}

/**
 * Runs a scene with a kill at one of its commits. Returns violated invariants, or null if the scene has fewer commits.
 */
async function play(name: string, kill: Kill): Promise<readonly string[] | null> {
  const { tool, inputs, edited = null } = scenes[name] ?? { tool: "", inputs: {} };
  const world = await ToolCallWorld.open({ limits: { turnsPerBatch: 1 } });
  const { harness } = world;
  harness.killAt = { ...kill, commit: harness.batches.length + kill.commit };
  const drive = async () => {
    void world.say(workspaceId, world.called("run_1", "ask-1", tool, inputs), 2);
    await harness.advance(100);
    if (tool === "comment") void world.approve("run_1", { edited });
    await harness.advance(200);
  };
  await drive();
  const isKilled = harness.batches.length >= harness.killAt.commit;
  if (!isKilled) return null;
  harness.killAt = null;
  harness.crash();
  await world.start();
  await drive();
  const calls = world.calls();
  const answers = world.outbox().filter(({ type }) => type === "run.tool-answered");
  const [call] = calls;
  const sent = world.requests.length;
  const wrong: string[] = [];
  const isGet = tool === "find";
  const expected = isGet ? ["done"] : [...(sent === 1 ? ["done"] : []), "failed outcome-unknown"];
  const state = `${call?.state}${call?.code ? ` ${call.code}` : ""}`;
  if (calls.length !== 1) wrong.push(`${calls.length} calls`);
  if (sent > (isGet ? 2 : 1) || (isGet && sent === 0)) wrong.push(`${sent} requests`);
  if (!expected.includes(state)) wrong.push(`it is ${state} after ${sent} requests`);
  if (answers.length !== 1) wrong.push(`${answers.length} answers to the runner`);
  if (openCalls.list(harness.durable, workspaceId).length > 0) wrong.push("it is open still");
  for (const space of [effectSpace, undeliveredSpace]) {
    const left = harness.durable.range({ prefix: [workspaceId, space] }).length;
    if (left > 0) wrong.push(`${left} rows are left in ${space}`);
  }
  return wrong.map((what) => `${name}, killed ${kill.when} commit ${kill.commit}: ${what}`);
}

for (const name of Object.keys(scenes)) {
  t.test(`${name}, killed at every border of a commit, is made once, told once and never left`, async (t) => {
    const wrong: string[] = [];
    let kills = 0;
    for (const when of ["before", "after"] as const) {
      for (let commit = 1; ; commit++) {
        const found = await play(name, { commit, when });
        if (found === null) break;
        wrong.push(...found);
        kills += 1;
      }
    }
    t.same(wrong, []);
    t.ok(kills >= 6, `${kills} kills`);
  });
}

import t from "tap";
import { type IntegrationFields, integrationSchema } from "../../../actors/integrations/definition.js";
import { freezeTools } from "../../../actors/runs/frozen-tools.js";
import { buildJob } from "../../../actors/runs/job.js";
import { runInputs } from "../../../actors/runs/run-input.table.js";
import { address } from "../../../runtime/address.js";
import { ReplayWorld } from "../../support/replay-world.js";
import { putResource } from "../../support/stepped-work.js";
import { type memoryRows, withTurn } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

type Rows = ReturnType<typeof memoryRows>;

const named = (...names: readonly string[]) => names.map((name) => ({ tool: `tracker.${name}`, approval: false }));

/** Defines the tools of the team's tracker; their descriptions end with `when`. */
function define(rows: Rows, when: string, tools: readonly string[] = ["find", "comment"]): void {
  const tool = (name: string) => [name, { description: `To ${name}, ${when}.`, action: "go", inputs: {} }];
  const definition = {
    ...{ integration: "tracker", name: "Tracker", hosts: ["api.example.com"] },
    actions: { go: { request: { url: "https://api.example.com/" } } },
    tools: Object.fromEntries(tools.map(tool)),
  };
  putResource(rows, "integration", "tracker", integrationSchema.parse(definition) satisfies IntegrationFields);
}

/** The past run had `find`; the definitions have changed since. */
function prepare(rows: Rows): void {
  define(rows, "then");
  const self = address(workspaceId, "run", "run_1");
  const freeze = (turn: Parameters<typeof freezeTools>[0]) => {
    const tools = freezeTools(turn, { workspaceId, teamKey: "core" }, { tools: named("find") });
    const input = runInputs.get(turn, workspaceId, "run_1");
    if (input?.beginning == null || tools === undefined) throw new Error("there is no past run");
    runInputs.put(turn, workspaceId, input, { ...input, beginning: { ...input.beginning, tools } });
  };
  withTurn(self, freeze, { rows });
  define(rows, "since");
}

t.test(
  "a replay's agent has the tools of the replay's config: as the repeated run had them, others as at its start",
  async (t) => {
    const world = await ReplayWorld.open({ runs: 1, prepare, station: { tools: named("comment", "find", "gone") } });
    await world.start();
    const toolsOf = (job: ReturnType<ReplayWorld["job"]>) => {
      const source = { reading: world.harness.durable, sealer: { open: () => "" } };
      return buildJob(source, workspaceId, job)?.tools?.map(({ description }) => description);
    };
    const expected = ["To comment, since.", "To find, then."];
    t.same(toolsOf(world.job()), expected);
    await world.write((rows) => define(rows, "later", ["find"]));
    t.same(toolsOf(world.job()), expected, "frozen with the replay");
    t.same(world.complaints(), []);
  },
);

import t from "tap";
import { createDependentSources, createKinds, migrations } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import type { Entry, KeyPart } from "../../../storage/store.js";
import { stepped } from "../../support/migrating.js";
import { pullRequestRow } from "../../support/pull-request-rows.js";
import { memoryRows } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

const row = (table: string, id: readonly KeyPart[], value: object): Entry => ({
  key: [workspaceId, "row", table, ...id],
  value,
});
const resource = (kind: string, id: string, address: string, fields: object) =>
  row("resource", [kind, id], { id, kind, workspaceId, teamId: "team_1", address, fields });
const stations = [
  { id: "sta_1", key: "work", name: "Do it" },
  { id: "sta_2", key: "review", name: "Look at it" },
];
const match = { lines: [], stations: [], repositories: [], tools: [] };
const written = ["resource-title", "resource-part", "task-title", "pull-request-title"];
const holders = ["tool-call-run", "attachment-task", "decision-task"];

t.test("titles and parts of an earlier release are indexed as if they were written now", async (t) => {
  const then = [
    resource("team", "team_1", "core", { key: "core", name: "Core team" }),
    resource("line", "line_1", "core/dev", { key: "dev", name: "Größer & besser", stations }),
    resource("hook", "hook_1", "core/tell-all", { key: "tell-all", on: "task.opened", match, steps: [] }),
    resource("secret", "sec_1", "password", { name: "password", hosts: [] }),
    row("task", ["task_1"], {
      id: "task_1",
      teamId: "team_1",
      title: "Fix #12, now now",
      description: "",
      state: "done",
    }),
    row("pull-request", ["pr_1"], pullRequestRow()),
    row("pull-request", ["pr_2"], pullRequestRow({ id: "pr_2", number: null })),
    row("tool-call", ["run_1", "call_1"], { id: "call_1", runId: "run_1", inputs: "", state: "done" }),
    row("task-attachment", ["task_1", "att_1"], { id: "att_1", taskId: "task_1" }),
    row("decision-standing", [5, "dec_1"], {
      taskId: "task_1",
      teamId: "team_1",
      repository: "a/b",
      url: "",
      paths: [],
    }),
  ];
  const step = migrations.find(({ title }) => title === "titles are searched by words, and parts of objects by id");
  if (step === undefined) throw new Error("the step is gone");
  const now = await stepped(step, then);
  const rows = memoryRows();
  for (const { key, value } of now) rows.put(key, value);
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const names = [...written, ...holders];
  const of = (entries: Iterable<Entry>) =>
    Object.fromEntries(
      [...entries]
        .filter(({ key }) => names.includes(String(key[2])))
        .map(({ key, value }) => [JSON.stringify(key), value]),
    );
  const expected = createDependentSources(kinds).flatMap((source) => {
    const isAsked = source.dependentTables.some((name) => names.includes(name));
    return isAsked ? [...source.dependents(rows, workspaceId)] : [];
  });
  t.same(of(now), of(expected));
  t.ok(Object.keys(of(now)).length > 25);
});

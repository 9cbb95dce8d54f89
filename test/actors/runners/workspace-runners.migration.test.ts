import t from "tap";
import { migrations } from "../../../actors/catalogue.js";
import { workspaceRunners } from "../../../actors/runners/workspace-runners.kind.js";
import type { Entry } from "../../../storage/store.js";
import { stepped } from "../../support/migrating.js";
import { memoryRows } from "../../support/turn.js";
import { workspaceId } from "../../support/work.js";

t.test("settings of an earlier release leave half of the slots to replays", async (t) => {
  const step = migrations.find(({ title }) => title === "workspaces say how many slots replays may take");
  if (step === undefined) throw new Error("there is no such step");
  const kind = "workspace-runners";
  const fields = { defaultPool: "main", maxConcurrentRuns: 7 };
  const before: readonly Entry[] = [
    { key: [workspaceId, "row", "resource", kind, "wr_1"], value: { kind, id: "wr_1", version: 3, fields } },
    { key: [workspaceId, "row", "resource-address", kind, "acme"], value: "wr_1" },
    { key: [workspaceId, "row", "resource", "team", "team_1"], value: { kind: "team", id: "team_1", fields: {} } },
  ];
  const rows = memoryRows();
  const after = await stepped(step, before);
  for (const { key, value } of after) rows.put(key, value);
  t.same(workspaceRunners(rows, workspaceId), { ...fields, replaySlotsPercent: null });
  t.match(
    after.map(({ value }) => value).filter((value) => typeof value === "object"),
    [
      { kind: "team", fields: {} },
      { kind, id: "wr_1", version: 3 },
    ],
  );
});

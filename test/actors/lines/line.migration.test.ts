import t from "tap";
import { migrations } from "../../../actors/catalogue.js";
import { pullRequestTerms } from "../../../actors/lines/line.js";
import { findLine } from "../../../actors/lines/line.queries.js";
import type { Entry } from "../../../storage/store.js";
import { stepped } from "../../support/migrating.js";
import { memoryRows } from "../../support/turn.js";
import { line, lineId, workspaceId } from "../../support/work.js";

t.test("lines of an earlier release open pull requests when their tasks finish", async (t) => {
  const step = migrations.find(({ title }) => title === "lines say how pull requests are opened");
  if (step === undefined) throw new Error("there is no such step");
  const { pullRequests: _terms, ...fields } = line;
  const stored = { kind: "line", id: lineId, version: 3, fields };
  const before: readonly Entry[] = [
    { key: [workspaceId, "row", "resource", "line", lineId], value: stored },
    { key: [workspaceId, "row", "resource", "team", "team_1"], value: { kind: "team", id: "team_1", fields: {} } },
  ];
  const rows = memoryRows();
  const after = await stepped(step, before);
  for (const { key, value } of after) rows.put(key, value);
  t.same(findLine(rows, workspaceId, lineId), line);
  t.same(pullRequestTerms(line), { open: "finish", draft: false, base: null });
  t.match(
    after.map(({ value }) => value),
    [{ version: 3 }, { kind: "team", fields: {} }],
  );
});

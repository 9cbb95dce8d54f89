import "@cdktn/hcl2json";
import t from "tap";
import { editStation } from "../../../../actors/config-pull-requests/edit/edit-station.js";
import type { SourceTree, WantedStation } from "../../../../actors/config-pull-requests/edit/station-edit.js";
import { stationSchema } from "../../../../actors/lines/station.js";
import { RunAbort } from "../../../../runtime/run-signal.js";
import { ManualClock } from "../../../support/manual-clock.js";

const station = stationSchema.parse({ key: "plan", name: "Plan", kind: "work" });

function edit(path: string, files: Readonly<Record<string, string>>) {
  const tree: SourceTree = {
    list: async () => ({
      entries: Object.keys(files).map((each) => ({ path: each, kind: "file" })),
      isWhole: true,
    }),
    read: async (each) => files[each] ?? null,
  };
  const wanted: WantedStation = {
    ...{ path, team: { id: "team_1", key: "core" }, lineKey: "web" },
    ...{ live: station, wanted: { ...station, model: "other" } },
  };
  return editStation(tree, wanted, { clock: new ManualClock(0), signal: new RunAbort() });
}

t.test("a source that is no HCL is refused, with where", async (t) => {
  t.match(await edit("lines/main.tf", {}), { refused: { code: "not-found" } });
  t.match(await edit("lines/main.tf.json", { "lines/main.tf.json": "{}" }), { refused: { code: "not-hcl" } });
  t.match(await edit("main.tf", { "main.tf": "resource {" }), {
    refused: { code: "not-hcl", message: /main\.tf:1,/ },
  });
});

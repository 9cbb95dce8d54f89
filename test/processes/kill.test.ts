import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { Killing } from "./killing.js";

t.test(
  "killed with -9 again and again under load, it loses nothing acknowledged and makes nothing twice",
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "signalbox-kill-"));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const killing = await Killing.start({ folder, keys: 240, parallel: 64, kills: 8 });
    t.teardown(() => killing.end());
    const { complaints, ...report } = await killing.run();
    t.same(complaints, []);
    t.match(report, { kills: 8, acknowledged: 240, resources: 240 });
    t.ok(report.cut > 0 && report.replayed > 0, JSON.stringify(report));
  },
);

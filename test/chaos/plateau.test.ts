import t from "tap";
import { ManualClock } from "../support/manual-clock.js";
import { passHours } from "../support/retention-pass.js";
import { startTestService } from "../support/service.js";
import { countStored, SteadyLoad, type Stored } from "./steady-load.js";

/** Tables with limits of their own. This small load does not reach the limits, so the tables keep growing. */
const bounded = ["feed"];

t.test("under a steady load what is stored stays as much as it was", async (t) => {
  const clock = new ManualClock();
  const settings = {
    RETENTION_WORK: "4h",
    RETENTION_FACTS: "4h",
    RETENTION_HOOKS: "4h",
    RETENTION_CHANGES: "4h",
  };
  const service = await startTestService(t, { clock, settings });
  const load = await SteadyLoad.begin(service);
  const seen: Stored[] = [];
  for (let hour = 0; hour < 64; hour += 4) {
    for (let n = 0; n < 2; n++) await load.secret();
    for (let n = 0; n < 2; n++) await load.task();
    await load.token();
    await passHours(service.runtime, load.workspaceId, clock, 4);
    seen.push(countStored(service.runtime.reading));
  }
  const most = (from: number, to: number) => {
    const counts = new Map<string, number>();
    for (const { entries } of seen.slice(from, to))
      for (const [name, count] of entries) counts.set(name, Math.max(count, counts.get(name) ?? 0));
    return counts;
  };
  const [before, after] = [most(4, 10), most(10, 16)];
  const grown = [...after].filter(([name, count]) => !bounded.includes(name) && count > (before.get(name) ?? 0));
  t.same(grown, [], "no table has more rows in the second half than in the first");
  t.equal(after.get("task"), before.get("task"));
});

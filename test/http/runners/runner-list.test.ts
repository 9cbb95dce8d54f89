import t from "tap";
import { openWorkplace } from "../../support/workplace.js";

interface Shown {
  readonly id: string;
  readonly since: string;
  readonly connected: boolean;
  readonly held: number;
}

t.test("the runners of a workspace are listed with what they offer, have room for and hold", async (t) => {
  const place = await openWorkplace(t);
  const list = async (query = "") => place.ada.request("GET", `/api/workspaces/acme/runners${query}`);
  const shown = async () => ((await list()).body?.items ?? []) as readonly Shown[];
  t.same((await list()).body, { items: [], next: null });
  const first = await place.runner({ name: "big", labels: ["gpu"], harnesses: ["command", "other"], slots: 2 });
  const second = await place.runner({ name: "small", instance: "another-instance" });
  await place.open();
  const { runId } = await first.job();
  const [big, small] = await shown();
  t.match(big, {
    name: "big",
    pool: "main",
    labels: ["gpu"],
    harnesses: ["command", "other"],
    connected: true,
    slots: 2,
    free: 1,
    held: 1,
    runs: [runId],
  });
  t.match(small, { name: "small", free: 1, held: 0, runs: { length: 0 } });
  t.equal(new Date(big?.since ?? "").toISOString(), big?.since);
  t.match((await list("?limit=1")).body?.items, [{ name: "big" }]);
  t.match((await list(`?limit=1&after=${big?.id}`)).body?.items, [{ name: "small" }]);
  t.equal((await list("?limit=0")).status, 400);

  first.cut();
  await place.until(async () => {
    const [row] = await shown();
    return row?.connected === false && row.held === 1;
  });
  t.equal((await second.frame("welcome")).runnerId, small?.id);
});

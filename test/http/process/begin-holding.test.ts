import t from "tap";
import { toArchiveId } from "../../../actors/archives/archive.js";
import { archiveActor } from "../../../actors/archives/archive.machine.js";
import { archiveHolds, archives } from "../../../actors/archives/archive.table.js";
import { migrations } from "../../../actors/catalogue.js";
import { judgesNothing } from "../../../actors/replays/judging/model-terms.js";
import { replaySetsActor } from "../../../actors/replays/sets/replay-sets.machine.js";
import { beginHolding } from "../../../http/process/begin-holding.js";
import type { Entry, Key } from "../../../storage/store.js";
import { Harness, partition } from "../../support/harness.js";
import { stepped } from "../../support/migrating.js";

const row = (table: string, ...rest: [...id: Key, value: unknown]): Entry => ({
  key: [partition, "row", table, ...(rest.slice(0, -1) as Key)],
  value: rest.at(-1),
});
const checkout = (repository: string, base: string | null) => ({ repository, base, diff: null });
const [one, two] = ["1".repeat(40), "2".repeat(40)];
const input = (runId: string, ...checkouts: unknown[]) =>
  row("run-input", runId, { runId, beginning: { checkouts }, config: { skills: [] }, claimed: null });

/** A set from an earlier release: two of its runs started from one commit, and one from an unknown commit. */
const then: readonly Entry[] = [
  row("replay-set", "rset_1", { id: "rset_1", teamId: "team_1" }),
  ...["run_1", "run_2", "run_3"].map((runId, n) => row("replay-entry", "rset_1", n + 2, { setId: "rset_1", runId })),
  row("replay-entry", "rset_gone", 2, { setId: "rset_gone", runId: "run_1" }),
  input("run_1", checkout("acme/app", one), checkout("acme/other", two)),
  input("run_2", checkout("acme/app", one)),
  input("run_3", checkout("acme/app", null)),
];

t.test("the commits of sets of an earlier release are held from the first start on, once", async (t) => {
  const step = migrations.find(({ title }) => title === "the commits of replay sets are held");
  if (step === undefined) throw new Error("there is no such step");
  const entries = await stepped(step, then);
  const actors = [replaySetsActor(judgesNothing), archiveActor({ bytesPerWorkspace: 0 })];
  for (const kill of [null, 1, 2, 3]) {
    const harness = new Harness({ catalogue: { actors } });
    const stored = harness.disk.open().commit(entries.map(({ key, value }) => ({ op: "put", key, value })));
    await harness.advance();
    await stored;
    await harness.start();
    if (kill !== null) harness.killAt = { commit: kill, when: "after" };
    const begin = () => {
      void beginHolding(harness.runtime);
      return harness.advance();
    };
    await begin();
    harness.killAt = null;
    harness.crash();
    await harness.start();
    await begin();
    const { durable } = harness;
    const held = archiveHolds.entries(durable, partition).map(({ key }) => key.slice(3));
    const [app, other] = [toArchiveId("acme/app", one), toArchiveId("acme/other", two)];
    const wanted = [
      [app, "rset_1/run_1"],
      [app, "rset_1/run_2"],
      [other, "rset_1/run_1"],
    ];
    t.same(held, wanted.sort(), `killed at commit ${kill}`);
    t.equal([...archives.rows(durable, partition)].length, 2);
    t.same(durable.range({ prefix: [partition, "row", "entry-commits-due"] }), []);
    harness.crash();
  }
});

import t, { type Test } from "tap";
import { openPickedHost, PickedWorld, type PickKill } from "../../support/picked-world.js";

/**
 * Returns the violated invariants. After the pick, there must be exactly one pull request, with one branch and one
 * commit.
 */
async function complaints(world: PickedWorld): Promise<readonly string[]> {
  const { row, infra } = world;
  const { branches, pulls } = await world.there();
  const [pull] = pulls;
  const head = (await infra.head(row?.branch ?? "")) ?? "";
  const text = head === "" ? "" : (await infra.read(head, "lines/dev.tf")).toString();
  return [
    ...(row?.state === "opened" && row.attempts === 1 ? [] : [`its row is ${JSON.stringify(row)}`]),
    ...(branches.length === 1 && branches[0] === row?.branch ? [] : [`there are branches ${branches.join(" ")}`]),
    ...(pulls.length === 1 && row?.url?.endsWith(`/pull/${pull?.number}`) ? [] : [`${pulls.length} pull requests`]),
    ...((await infra.commits("main", head)).length === 1 ? [] : ["not one commit"]),
    ...(text === 'station = {\n  harness = "claude"\n}\n' ? [] : [`the file is ${text}`]),
  ];
}

/**
 * Opens a pull request without a kill. Then opens one per kill: a kill at each commit of the service, or at each write
 * at the code host.
 */
async function killAtEach(t: Test, at: PickKill["at"], when: PickKill["when"]): Promise<void> {
  const host = await openPickedHost(t);
  const calm = await PickedWorld.open(host);
  const begins = calm.harness.batches.length;
  await calm.pick("once");
  t.same(await complaints(calm), []);
  const count = at === "write" ? calm.writes : calm.harness.batches.length - begins;
  t.ok(count >= 4, `${count}`);
  const found: string[] = [];
  for (let n = 1; n <= count; n += 1) {
    const world = await PickedWorld.open(host, { at, n, when });
    await world.pick("once");
    found.push(...(await complaints(world)).map((each) => `killed ${when} ${at} ${n}: ${each}`));
  }
  t.same(found, []);
}

t.test("killed before any commit, it is opened once: one branch, one commit, one pull request", (t) =>
  killAtEach(t, "commit", "before"),
);

t.test("the same after any commit", (t) => killAtEach(t, "commit", "after"));

// Only kills after a write are tested. Until the next write, the code host and the disk stay in the same state, because
// reads change nothing.
t.test("the same after any write at the code host, whose answer never comes", (t) => killAtEach(t, "write", "after"));

t.test("many picks at once open it once", async (t) => {
  const world = await PickedWorld.open(await openPickedHost(t));
  for (let n = 1; n <= 5; n += 1) world.ask(`racer ${n}`);
  await world.pick("once");
  t.same(await complaints(world), []);
});

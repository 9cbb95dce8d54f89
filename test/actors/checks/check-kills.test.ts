import t from "tap";
import { replayCheckRef } from "../../../actors/checks/check.messages.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { allChecks, checkComplaints, checkedLine, guard, startCheck, workJobs } from "../../support/check-world.js";
import { type Act, atEveryBorder, idempotency, type KilledWorld } from "../../support/killed-world.js";
import { complaintsAtRest } from "../../support/replay-rest.js";
import type { ReplayWorld } from "../../support/replay-world.js";
import { workspaceId } from "../../support/work.js";

const options = { runs: 2, slots: 2, ...checkedLine() };
const findCheck = (world: ReplayWorld) => allChecks(world)[0];

const start: Act = async (world) => void (await startCheck(world, { idempotency: idempotency("start") }));
/** Returns an act that works on all jobs. If `isWorse`, the agents that work with the planned change fail. */
const work =
  (isWorse: boolean): Act =>
  async (world) => {
    await world.connectedAsk();
    const planned = findCheck(world)?.replayId;
    await workJobs(world, (replayId) => isWorse && replayId === planned);
  };

async function toTheEnd(killed: KilledWorld, isWorse: boolean): Promise<readonly string[]> {
  const { world } = killed;
  await killed.until(() => world.allSets()[0]?.guardsChanges === true, guard);
  await killed.until(() => allChecks(world).length > 0, start);
  await killed.until(() => (findCheck(world)?.endedAt ?? null) !== null, work(isWorse));
  const found = [allChecks(world).length, world.allReplays().length].join();
  return [
    ...(found === "1,2" ? [] : [`checks and replays: ${found}`]),
    ...checkComplaints(world),
    ...complaintsAtRest(world),
  ];
}

t.test("killed at any border, a check of a change that does as well passes, once", async (t) => {
  await atEveryBorder(
    t,
    async (killed) => {
      const complaints = await toTheEnd(killed, false);
      const verdict = findCheck(killed.world)?.verdict;
      return [...complaints, ...(verdict === "passed" ? [] : [`it is ${verdict}`])];
    },
    options,
  );
});

t.test(
  "killed at any border, a check of a worse change fails and stays so, and goes when it is forgotten",
  async (t) => {
    await atEveryBorder(
      t,
      async (killed) => {
        const { world } = killed;
        const complaints = await toTheEnd(killed, true);
        const { id = "", verdict } = findCheck(world) ?? {};
        await killed.until(
          () => allChecks(world).length === 0,
          async () => {
            await world.harness.ask(replayCheckRef(workspaceId, id), { type: "check.forget" } as Message);
          },
        );
        const left = world.harness.durable.range({ prefix: [workspaceId, "row", "replay-check-result"] }).length;
        return [
          ...complaints,
          ...(verdict === "failed" ? [] : [`it is ${verdict}`]),
          ...(left === 0 ? [] : ["rows are left"]),
        ];
      },
      { ...options, runs: 1 },
    );
  },
);

import t from "tap";
import { FairTurns, partyOf } from "../../../http/limits/fair-turns.js";
import { DrivenScheduler } from "../../support/driven-scheduler.js";

/** Turns whose work takes `costMs` each, and which party had each. */
function arrange(costMs: number) {
  const scheduler = new DrivenScheduler();
  let nowMs = 0;
  const turns = new FairTurns({ scheduler, elapsedMs: () => nowMs });
  const had: string[] = [];
  const work = (party: string): void => {
    had.push(party);
    nowMs += costMs;
  };
  const enter = (party: string): void => {
    const turn = turns.enter(party);
    if (turn === null) work(party);
    else void turn.then(() => work(party));
  };
  return { scheduler, turns, had, enter, work };
}

t.test("work that nobody waits before begins at once, as long as the slice lasts", async (t) => {
  const { had, enter, scheduler } = arrange(0.4);
  for (let count = 0; count < 5; count++) enter("a");
  t.same(had, ["a", "a", "a"], "the third began with time left");
  await scheduler.turn();
  t.same(had.length, 5);
});

t.test("the party whose last turn is longest ago has the next, whoever asks for more", async (t) => {
  const { had, enter, scheduler } = arrange(1);
  for (let count = 0; count < 100; count++) enter("flood");
  enter("a");
  enter("b");
  enter("a");
  while (had.filter((party) => party === "a").length < 2) await scheduler.turn();
  t.same(had, ["flood", "a", "b", "flood", "a"]);
  while (!scheduler.isIdle) await scheduler.turn();
  t.equal(had.length, 103, "nobody is left out");
});

t.test("input is read after each slice, and after a few turns that take no time themselves", async (t) => {
  for (const [costMs, most] of [
    [2, 1],
    [0.4, 3],
    [0, 8],
  ] as const) {
    const { had, turns, work, scheduler } = arrange(costMs);
    for (let count = 0; count < 50; count++) void turns.next("a").then(() => work("a"));
    let before = 0;
    while (!scheduler.isIdle) {
      await scheduler.turn();
      t.ok(had.length - before <= most, `${had.length - before} turns of ${costMs} ms`);
      before = had.length;
    }
    t.equal(had.length, 50);
  }
});

t.test("work in slices lets others in between", async (t) => {
  const { had, turns, work, enter, scheduler } = arrange(1);
  const sliced = async (): Promise<void> => {
    for (let slice = 0; slice < 10; slice++) {
      await turns.next("flood");
      work("flood");
    }
  };
  const all = Promise.all(Array.from({ length: 128 }, sliced));
  for (let count = 0; count < 20; count++) {
    await scheduler.turn();
    const before = had.length;
    enter("quiet");
    while (had.at(-1) !== "quiet") await scheduler.turn();
    t.ok(had.length - before <= 3, `${had.length - before} turns until the quiet one's`);
  }
  while (!scheduler.isIdle) await scheduler.turn();
  await all;
});

t.test("tokens count for their workspace, people for themselves, and others for their address", async (t) => {
  const token = { kind: "token", scopes: [], issuedBy: "usr_1", trust: null } as const;
  const address = () => "192.0.2.7";
  t.equal(partyOf({ ...token, tokenId: "tok_1", workspaceId: "ws_1" }, address), "ws_1");
  t.equal(partyOf({ ...token, tokenId: "tok_2", workspaceId: "ws_1" }, address), "ws_1");
  t.equal(partyOf({ kind: "person", userId: "usr_1", email: "a@b.c", sessionId: "ses_1" }, address), "usr_1");
  t.equal(partyOf(null, address), "192.0.2.7");
});

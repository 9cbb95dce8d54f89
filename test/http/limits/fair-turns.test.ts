import t from "tap";
import { FairTurns, toClient } from "../../../http/limits/fair-turns.js";
import { DrivenScheduler } from "../../support/driven-scheduler.js";

/** Returns turns whose work takes `costMs` each. `had` records the client of each turn. */
function arrange(costMs: number, loop?: DrivenScheduler) {
  const scheduler = new DrivenScheduler();
  let nowMs = 100_000;
  let idledMs = 0;
  const turns = new FairTurns({ scheduler, loop: loop ?? scheduler, elapsedMs: () => nowMs, idleMs: () => idledMs });
  const had: string[] = [];
  const work = (client: string): void => {
    had.push(client);
    nowMs += costMs;
  };
  const enter = (client: string): void => {
    const turn = turns.enter(client, { isGone: false }, 60_000);
    if (turn === null) work(client);
    else if (turn !== "crowded") void turn.then(() => work(client));
  };
  const elapse = (ms: number): void => {
    nowMs += ms;
  };
  /** Simulates that the loop waits for input. */
  const wait = (ms: number): void => {
    idledMs += ms;
    nowMs += ms;
  };
  return { scheduler, turns, had, enter, work, elapse, wait };
}

t.test("work that nobody waits before begins at once, as long as the slice lasts", async (t) => {
  const { had, enter, scheduler } = arrange(0.9);
  for (let count = 0; count < 5; count++) enter("a");
  t.same(had, ["a", "a", "a"], "the third began with time left");
  while (!scheduler.isIdle) await scheduler.turn();
  t.same(had.length, 5);
});

t.test("a slice that nobody waits in costs the loop nothing, and ends where it waits for input", async (t) => {
  const { had, enter, wait, scheduler } = arrange(0.9);
  for (let count = 0; count < 5; count++) {
    wait(0.01);
    for (const client of ["a", "a", "a"]) enter(client);
    t.same(had.splice(0), ["a", "a", "a"]);
    t.ok(scheduler.isIdle, "nothing is planned");
  }
});

t.test("where the loop did not wait since the slice before, a slice ends once input was read", async (t) => {
  const { had, enter, wait, scheduler } = arrange(0.9);
  wait(1);
  enter("a");
  await scheduler.turn();
  for (let count = 0; count < 4; count++) enter("a");
  t.equal(had.length, 3, "rounds without a wait do not end it: the rest has to wait");
  await scheduler.turn();
  t.equal(had.length, 4, "one turn is always given");
  await scheduler.turn();
  t.equal(had.length, 5, "in the next slice");
  while (!scheduler.isIdle) await scheduler.turn();
  enter("a");
  t.notOk(scheduler.isIdle, "its end is planned as it begins");
});

t.test("the client whose last turn is longest ago has the next, whoever asks for more", async (t) => {
  const { had, enter, scheduler } = arrange(2);
  for (let count = 0; count < 100; count++) enter("flood");
  enter("a");
  enter("b");
  enter("a");
  while (had.filter((client) => client === "a").length < 2) await scheduler.turn();
  t.same(had, ["flood", "a", "b", "flood", "a"]);
  while (!scheduler.isIdle) await scheduler.turn();
  t.equal(had.length, 103, "nobody is left out");
});

t.test("who asks for one thing at a time goes ahead of a flood, whatever the slice took", async (t) => {
  const { had, enter, scheduler } = arrange(3);
  for (let count = 0; count < 100; count++) enter("flood");
  for (let round = 0; round < 20; round++) {
    enter("quiet");
    t.equal(had.at(-1), "quiet", "at once");
    await scheduler.turn();
    await scheduler.turn();
  }
  const floods = had.filter((client) => client === "flood").length;
  t.ok(floods >= 20, `${floods} turns of the flood meanwhile`);
  while (!scheduler.isIdle) await scheduler.turn();
});

t.test("each goes ahead once in a slice, and few do in all", async (t) => {
  const { had, enter, scheduler } = arrange(3);
  for (let count = 0; count < 10; count++) enter("flood");
  for (const client of ["a", "a", "b", "c", "d", "e", "f"]) enter(client);
  t.same(had, ["flood", "a", "b", "c", "d"]);
  while (!scheduler.isIdle) await scheduler.turn();
  t.equal(had.length, 17);
});

t.test("nobody goes ahead of a client with one request that has waited longer", async (t) => {
  const { had, enter, scheduler } = arrange(3);
  for (let count = 0; count < 10; count++) enter("flood");
  for (const client of ["a", "a", "b", "b"]) enter(client);
  await scheduler.turn();
  await scheduler.turn();
  t.same(had.splice(0), ["flood", "a", "b", "flood", "a"], "b waits, in a slice that is new");
  enter("a");
  t.same(had, []);
  await scheduler.turn();
  t.same(had, ["b"]);
  while (!scheduler.isIdle) await scheduler.turn();
});

t.test("slices end in each round of the loop, though other work is in line before turns", async (t) => {
  const loop = new DrivenScheduler();
  const { had, enter, scheduler } = arrange(3, loop);
  for (let count = 0; count < 10; count++) enter("flood");
  for (let round = 0; round < 5; round++) {
    had.length = 0;
    for (const client of ["a", "b", "c", "d"]) enter(client);
    t.same(had, ["a", "b", "c", "d"]);
    await loop.turn();
    await loop.turn();
  }
  while (!scheduler.isIdle || !loop.isIdle) await Promise.all([scheduler.turn(), loop.turn()]);
});

t.test("input is read after each slice, and after a few turns that take no time themselves", async (t) => {
  for (const [costMs, most] of [
    [3, 1],
    [0.9, 3],
    [0, 16],
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

t.test("slices are short while several clients are about, and long for one alone", async (t) => {
  const { had, turns, work, elapse, scheduler } = arrange(0.02);
  const slice = async (): Promise<number> => {
    const before = had.length;
    await scheduler.turn();
    return had.length - before;
  };
  for (let count = 0; count < 200; count++) void turns.next("a").then(() => work("a"));
  for (let count = 0; count < 2; count++) await slice();
  t.same([await slice(), await slice()], [16, 16], "as many as there may be");
  void turns.next("b").then(() => work("b"));
  await slice();
  for (let count = 0; count < 10; count++) t.equal(await slice(), 3);
  t.ok(turns.isShared);
  elapse(10_000);
  await slice();
  t.notOk(turns.isShared);
  t.equal(await slice(), 16);
  while (!scheduler.isIdle) await scheduler.turn();
});

t.test("what else the loop does counts for the slice, but one turn is always given", async (t) => {
  const { had, turns, work, elapse, scheduler } = arrange(0.04);
  const slice = async (): Promise<number> => {
    const before = had.length;
    await scheduler.turn();
    return had.length - before;
  };
  void turns.next("b");
  for (let count = 0; count < 30; count++) void turns.next("a").then(() => work("a"));
  for (let count = 0; count < 3; count++) await slice();
  // The work of `b` acts like a write: the runtime then takes a turn of its own in the next round of the loop.
  void turns.next("b").then(() => scheduler.defer(() => elapse(3)));
  t.same([await slice(), await slice(), await slice()], [2, 1, 2]);
  while (!scheduler.isIdle) await scheduler.turn();
  t.equal(had.length, 30);
});

/**
 * Returns functions that run requests of one client. Each request enters, then does `slices` pieces of work. After each
 * piece, the request waits for its next turn.
 */
function manyRequests({ turns, work, scheduler }: ReturnType<typeof arrange>) {
  let underWay = 0;
  let most = 0;
  let begun = 0;
  const ask = async (slices: number): Promise<void> => {
    const turn = turns.enter("flood", { isGone: false }, 60_000);
    if (turn !== null) await turn;
    begun += 1;
    underWay += 1;
    most = Math.max(most, underWay);
    for (let slice = 0; slice < slices; slice++) {
      work("flood");
      await turns.next("flood");
    }
    underWay -= 1;
  };
  const runOut = async () => {
    while (!scheduler.isIdle) await scheduler.turn();
  };
  return { ask, runOut, most: () => most, begun: () => begun };
}

t.test("few requests of a client are under way at once, however many it sends", async (t) => {
  const { ask, runOut, most } = manyRequests(arrange(0.3));
  const all = Promise.all(Array.from({ length: 128 }, () => ask(8)));
  await runOut();
  await all;
  t.ok(most() <= 6, `${most()} at once`);
});

t.test("requests that take long do not keep others of their client from beginning", async (t) => {
  const world = arrange(1);
  const { ask, runOut, begun } = manyRequests(world);
  const long = Array.from({ length: 20 }, () => ask(200));
  while (begun() < 10) await world.scheduler.turn();
  const before = { begun: begun(), turns: world.had.length };
  while (begun() < before.begun + 5) await world.scheduler.turn();
  t.ok(world.had.length - before.turns <= 5 * 64, `${world.had.length - before.turns} turns for five to begin`);
  await Promise.all([runOut(), ...long]);
});

t.test("what waited for something else goes on at once when nobody waits, and else in its client's turn", async (t) => {
  const { turns, had, enter, work, scheduler } = arrange(0.2);
  t.equal(turns.goOn("a"), null);
  for (let count = 0; count < 30; count++) enter("flood");
  t.equal(turns.goOn("a"), null, "ahead of the flood, once");
  const later = turns.goOn("a");
  void later?.then(() => work("a"));
  const before = had.length;
  while (!had.includes("a")) await scheduler.turn();
  t.ok(had.indexOf("a") <= before + 1, "the client that waits longest has the next");
  while (!scheduler.isIdle) await scheduler.turn();
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

/**
 * Starts one request, and returns a function that queues requests behind it. `ends` records the outcomes of the queued
 * requests, in order.
 */
function queued({ turns, work, scheduler }: ReturnType<typeof arrange>) {
  const ends: string[] = [];
  turns.enter("a", { isGone: false }, 1_000);
  work("a");
  const ask = (name: string, client: { isGone: boolean } = { isGone: false }, mostMs = 1_000): unknown => {
    const turn = turns.enter("a", client, mostMs);
    if (turn === null || turn === "crowded") return turn;
    return turn.then((begin) => {
      ends.push(`${name} ${begin}`);
      if (begin === "turn") work("a");
    });
  };
  const runOut = async () => {
    while (!scheduler.isIdle) await scheduler.turn();
  };
  return { ask, ends, runOut };
}

t.test("what nobody waits for any more takes no turn", async (t) => {
  const world = arrange(3);
  const { ask, ends, runOut } = queued(world);
  const leaving = { isGone: false };
  for (let count = 0; count < 50; count++) ask("left", leaving);
  ask("stayed");
  leaving.isGone = true;
  await world.scheduler.turn();
  t.same(ends, [...Array.from({ length: 50 }, () => "left gone"), "stayed turn"]);
  t.equal(world.had.length, 2);
  await runOut();
  t.equal(world.turns.enter("a", { isGone: false }, 1_000), null, "nobody waits now");
});

t.test("what has waited for too long takes no turn", async (t) => {
  const world = arrange(3);
  const { ask, ends, runOut } = queued(world);
  for (const name of ["one", "two", "three"]) ask(name, { isGone: false }, 5);
  await runOut();
  t.same(ends, ["one turn", "two turn", "three late"], "turns take three milliseconds each");
});

t.test("a client has so many requests waiting and no more; those that left make room", async (t) => {
  const world = arrange(3);
  const { ask, ends, runOut } = queued(world);
  const leaving = { isGone: false };
  ask("first");
  for (let count = 1; count < 1_000; count++) ask("left", leaving);
  t.equal(ask("too many"), "crowded");
  t.equal(world.turns.enter("b", { isGone: false }, 1_000), null, "another client goes ahead as before");
  leaving.isGone = true;
  t.type(ask("last"), Promise);
  await runOut();
  t.equal(ends.filter((end) => end === "left gone").length, 999);
  t.same(
    ends.filter((end) => end !== "left gone"),
    ["first turn", "last turn"],
  );
});

t.test("tokens count for their workspace, people for themselves, and others for their address", async (t) => {
  const token = { kind: "token", scopes: [], issuedBy: "usr_1", trust: null } as const;
  const address = () => "192.0.2.7";
  t.equal(toClient({ ...token, tokenId: "tok_1", workspaceId: "ws_1" }, address), "ws_1");
  t.equal(toClient({ ...token, tokenId: "tok_2", workspaceId: "ws_1" }, address), "ws_1");
  t.equal(toClient({ kind: "person", userId: "usr_1", email: "a@b.c", sessionId: "ses_1" }, address), "usr_1");
  t.equal(toClient(null, address), "192.0.2.7");
});

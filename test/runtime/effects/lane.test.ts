import fc from "fast-check";
import t from "tap";
import { Lane, type LaneLimits, type PlaceFor, type PlaceWaiter } from "../../../runtime/effects/lane.js";

const limits: LaneLimits = { name: "test", places: 10, kept: 4, perClient: 5, perTarget: 3 };

/**
 * Takes a place or waits for one. Adds the name to `granted` when the place is granted. Returns the waiter, or null if
 * a place was free.
 */
function want(lane: Lane, client: string, target: string, granted: string[]): PlaceWaiter | null {
  const name = `${client} ${target}`;
  if (lane.take({ client, target })) {
    granted.push(name);
    return null;
  }
  const waiter: PlaceWaiter = { client, target, isWaiting: false, granted: () => void granted.push(name) };
  lane.wait(waiter);
  return waiter;
}

function wantMany(lane: Lane, client: string, target: string, count: number): string[] {
  const granted: string[] = [];
  for (let n = 0; n < count; n++) want(lane, client, target, granted);
  return granted;
}

t.test("a client has so many places at one target, and so many in all", async (t) => {
  const lane = new Lane(limits);
  t.equal(wantMany(lane, "a", "x", 100).length, 3);
  t.equal(lane.findBound({ client: "a", target: "x" }), "target");
  t.equal(wantMany(lane, "a", "y", 100).length, 2);
  t.equal(lane.findBound({ client: "a", target: "y" }), "client");
  t.equal(lane.findBound({ client: "b", target: "x" }), null);
  t.match(lane, { taken: 5, waiting: 195 });
});

t.test("so many places are left for clients that have none, whatever the others hang on to", async (t) => {
  const lane = new Lane(limits);
  for (const client of ["a", "b", "c"]) t.equal(wantMany(lane, client, "x", 3).length, 3);
  t.equal(lane.findBound({ client: "a", target: "y" }), "process");
  t.equal(wantMany(lane, "d", "x", 2).length, 1);
  t.equal(lane.taken, 10);
  t.equal(lane.findBound({ client: "e", target: "x" }), "process");
});

t.test("who has no place goes first, then clients and targets in turn, and at a target who came first", async (t) => {
  const lane = new Lane({ ...limits, places: 2, kept: 0, perClient: 2 });
  const granted: string[] = [];
  lane.take({ client: "a", target: "x" });
  lane.take({ client: "a", target: "x" });
  for (const target of ["x", "x", "y"]) want(lane, "a", target, granted);
  want(lane, "b", "x", granted);
  lane.release({ client: "a", target: "x" });
  t.same(granted, ["b x"]);
  lane.release({ client: "a", target: "x" });
  t.same(granted, ["b x", "a x"]);
  lane.release({ client: "b", target: "x" });
  t.same(granted.slice(2), ["a y"], "its other target has its turn");
  lane.release({ client: "a", target: "x" });
  t.same(granted.slice(3), ["a x"]);
  t.equal(lane.waiting, 0);
});

t.test("who waits no longer takes no place", async (t) => {
  const lane = new Lane({ ...limits, places: 1, kept: 0 });
  const granted: string[] = [];
  lane.take({ client: "a", target: "x" });
  const waiter = want(lane, "a", "x", granted);
  want(lane, "b", "x", granted);
  if (waiter !== null) lane.cancel(waiter);
  t.equal(lane.waiting, 1);
  lane.release({ client: "a", target: "x" });
  lane.release({ client: "b", target: "x" });
  t.same(granted, ["b x"]);
  t.match(lane, { taken: 0, waiting: 0 });
});

interface Model {
  readonly places: PlaceFor[];
  readonly waiters: PlaceWaiter[];
}

/**
 * Returns the limit that prevents a client from taking a place, computed directly from the rules. Returns null if no
 * limit prevents it.
 */
function boundIn({ places }: Model, { client, target }: PlaceFor, { perTarget, perClient, ...all }: LaneLimits) {
  const own = places.filter((place) => place.client === client);
  if (own.filter((place) => place.target === target).length >= perTarget) return "target";
  if (own.length >= perClient) return "client";
  const further = places.length - new Set(places.map((place) => place.client)).size;
  return places.length < all.places && (own.length === 0 || further < all.places - all.kept) ? null : "process";
}

t.test("whatever happens, bounds hold, and no place is free that someone who waits may have", async () => {
  const name = fc.constantFrom("a", "b", "c", "d");
  const step = fc.record({
    do: fc.constantFrom("want" as const, "want" as const, "release" as const, "cancel" as const),
    client: name,
    target: fc.constantFrom("x", "y"),
    at: fc.nat(),
  });
  const bounds = fc.record({
    places: fc.integer({ min: 1, max: 8 }),
    kept: fc.integer({ min: 0, max: 4 }),
    perClient: fc.integer({ min: 1, max: 5 }),
    perTarget: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(bounds, fc.array(step, { maxLength: 120 }), (given, steps) => {
      const all: LaneLimits = { name: "test", ...given };
      const lane = new Lane(all);
      const model: Model = { places: [], waiters: [] };
      for (const { do: what, client, target, at } of steps) {
        if (what === "want") takeOrWait(lane, model, { client, target });
        else if (what === "release" && model.places.length > 0) {
          const [place] = model.places.splice(at % model.places.length, 1);
          if (place !== undefined) lane.release(place);
        } else if (what === "cancel" && model.waiters.length > 0) {
          const [waiter] = model.waiters.splice(at % model.waiters.length, 1);
          if (waiter !== undefined) lane.cancel(waiter);
        }
        check(lane, model, all);
      }
      // Release all places. After that, no request may wait, except if the lane reserves all places for clients that
      // have no place yet.
      for (let place = model.places.shift(); place !== undefined; place = model.places.shift()) lane.release(place);
      if (lane.taken !== 0 || (lane.waiting !== 0 && given.kept < given.places))
        throw new Error("something still waits");
    }),
    { numRuns: 300 },
  );
});

function takeOrWait(lane: Lane, model: Model, place: PlaceFor): void {
  if (lane.take(place)) {
    model.places.push(place);
    return;
  }
  const waiter: PlaceWaiter = {
    ...place,
    isWaiting: false,
    granted: () => {
      model.waiters.splice(model.waiters.indexOf(waiter), 1);
      model.places.push(place);
    },
  };
  model.waiters.push(waiter);
  lane.wait(waiter);
}

function check(lane: Lane, model: Model, limits: LaneLimits): void {
  if (lane.taken !== model.places.length) throw new Error(`${lane.taken} are taken, not ${model.places.length}`);
  if (lane.waiting !== model.waiters.length) throw new Error(`${lane.waiting} wait, not ${model.waiters.length}`);
  for (const client of ["a", "b", "c", "d"]) {
    for (const target of ["x", "y"]) {
      const place = { client, target };
      const bound = boundIn(model, place, limits);
      if (lane.findBound(place) !== bound)
        throw new Error(`${client} ${target}: ${lane.findBound(place)}, not ${bound}`);
    }
  }
  const waits = model.waiters.find((waiter) => boundIn(model, waiter, limits) === null);
  if (waits !== undefined) throw new Error(`${waits.client} ${waits.target} waits although there is a place`);
}

t.test("places are given on one after another, however many of those who get one give it back at once", (t) => {
  const lane = new Lane({ ...limits, perTarget: 1 });
  const place = { client: "a", target: "x" };
  lane.take(place);
  let granted = 0;
  const again = (): void => {
    granted += 1;
    t.equal(lane.take({ client: "a", target: "y" }), false, "those who wait have their turn first");
    lane.release(place);
  };
  for (let n = 0; n < 20_000; n++)
    lane.wait({
      ...place,
      isWaiting: false,
      granted:
        n % 5_000 === 0
          ? again
          : () => {
              granted += 1;
              lane.release(place);
            },
    });
  lane.release(place);
  t.equal(granted, 20_000);
  t.match(lane, { taken: 0, waiting: 0 });
  t.end();
});

t.test("who came to its first place again and again meanwhile has no more turns than others", async (t) => {
  const lane = new Lane({ name: "test", places: 10, kept: 6, perClient: 50, perTarget: 50 });
  for (let n = 0; n < 5; n++) lane.take({ client: "noise", target: "x" });
  const granted: string[] = [];
  for (const client of ["a", "b"]) {
    lane.take({ client, target: "x" });
    for (let n = 0; n < 60; n++) want(lane, client, "x", granted);
  }
  for (let n = 0; n < 40; n++) lane.release({ client: "a", target: "x" });
  t.equal(granted.length, 40, "each in its first place");
  granted.length = 0;
  for (let n = 0; n < 4; n++) lane.release({ client: "noise", target: "x" });
  t.same(granted.sort(), ["a x", "a x", "b x", "b x"]);
});

import t from "tap";
import { fillPasses, passingAs, unreachedStations } from "../../../actors/lines/passing.js";
import { type StationBlock, stationSchema } from "../../../actors/lines/station.js";

/** Returns stations by key; null omits `passesTo`. */
function toStations(passes: Readonly<Record<string, readonly string[] | null>>): StationBlock[] {
  return Object.entries(passes).map(([key, passesTo]) =>
    stationSchema.parse({ key, name: key, kind: "work", ...(passesTo !== null && { passesTo }) }),
  );
}

const omitted = { plan: null, work: null, review: null };
const chain = { plan: ["work"], work: ["review"], review: [] };
const none = { plan: [], work: [], review: [] };

const cases: readonly [what: string, stored: object | null, body: object, filled: object][] = [
  ["a new line that omits them all", null, omitted, chain],
  ["a new line of one station", null, { work: null }, { work: [] }],
  ["a new line that passes to none", null, none, none],
  ["a new line that names them once", null, { ...omitted, plan: ["review"] }, { ...none, plan: ["review"] }],
  ["a new line where one passes to none", null, { ...omitted, plan: [] }, none],
  ["an update of a line that passes on", chain, omitted, chain],
  ["an update of a line that passes on elsewhere", { other: [], more: ["other"] }, omitted, chain],
  ["an update of a line that passes on, by empty lists", chain, none, none],
  ["an update that names some of them", chain, { ...omitted, work: ["plan"] }, { ...none, work: ["plan"] }],
  ["an update of a line that passes to none", none, omitted, none],
  ["an update that adds a station to a line of one", { plan: [] }, omitted, none],
];

t.test("omitted stations to pass to are filled in by the next one where the line passes on", async (t) => {
  for (const [what, stored, body, filled] of cases) {
    const previous = stored === null ? null : toStations({ ...stored });
    const found = fillPasses(toStations({ ...body }), previous);
    t.same(Object.fromEntries(found.map(({ key, passesTo }) => [key, passesTo])), filled, what);
  }
});

t.test("a block by itself takes the live station's, unless it names its own or none", async (t) => {
  const live = { passesTo: ["review"] };
  const passes = [null, [], ["plan"]].map((passesTo) =>
    toStations({ work: passesTo }).map((each) => passingAs(each, live)),
  );
  t.same(
    passes.flat().map(({ passesTo }) => passesTo),
    [["review"], [], ["plan"]],
  );
});

t.test("a station counts as reached when a chain of stations from the first one passes to it", async (t) => {
  const unreached: readonly [
    passes: Parameters<typeof toStations>[0],
    found: readonly (readonly [number, string, boolean])[],
  ][] = [
    [chain, []],
    [{ work: [] }, []],
    [{ plan: ["review"], work: [], review: ["work"] }, []],
    [
      none,
      [
        [1, "work", false],
        [2, "review", false],
      ],
    ],
    [
      { plan: [], work: ["review"], review: ["work"] },
      [
        [1, "work", true],
        [2, "review", true],
      ],
    ],
    [{ plan: [], work: ["plan"] }, [[1, "work", false]]],
  ];
  for (const [passes, found] of unreached) {
    const named = unreachedStations(toStations(passes)).map(({ index, key, isPassedTo }) => [index, key, isPassedTo]);
    t.same(named, found, JSON.stringify(passes));
  }
});

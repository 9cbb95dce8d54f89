import t from "tap";
import { type StationBody, stationSchema } from "../../../../actors/lines/station.js";
import { admitProposals, type ProposalContext } from "../../../../actors/searches/agent/refuse-proposals.js";

/** Tests which proposals of a search agent are refused, and with which faults. */

const live: StationBody = {
  passesTo: [],
  ...stationSchema.parse({
    key: "build",
    name: "Build",
    kind: "work",
    prompt: "Build it.",
    check: "make test",
    diffs: true,
    judge: { rubric: "Is it built?" },
    runners: { pool: "fast", labels: ["gpu"] },
  }),
};

/** In these tests, the fingerprint of a block is its prompt. */
const standing = (more: Partial<ProposalContext> = {}): ProposalContext => ({
  live,
  left: 3,
  known: new Map([["seed", "Build it."]]),
  check: () => [],
  toFingerprint: ({ prompt }) => prompt,
  ...more,
});
const proposal = (name: string, station: Partial<StationBody> = {}) => ({
  name,
  hypothesis: null,
  station: { ...live, prompt: `As ${name}.`, ...station },
});
const listFaults = (list: ReturnType<typeof proposal>[], more: Partial<ProposalContext> = {}) => {
  const found = admitProposals(list, standing(more));
  return "faults" in found ? found.faults.map(({ path, message }) => `${path} ${message}`) : [];
};

t.test("candidates that differ in how their runs go are admitted, with the fingerprint of that", async (t) => {
  const list = [proposal("short"), proposal("long", { passesTo: ["review"] })];
  t.same(admitProposals(list, standing()), {
    admitted: [
      { ...list[0], runningFingerprint: "As short." },
      { ...list[1], runningFingerprint: "As long." },
    ],
  });
});

t.test("what scores the replays, and where they run, stays as the live config has it", async (t) => {
  const changes: Partial<StationBody>[] = [
    { check: null },
    { judge: null },
    { judge: stationSchema.parse({ ...live, judge: { rubric: "Pass." } }).judge },
    { runners: { pool: "slow", labels: ["gpu"] } },
    { diffs: false },
  ];
  const message = "must stay as the live config has it: it is the same for all candidates of a search";
  t.same(
    changes.flatMap((change) => listFaults([proposal("a"), proposal("b", change)])),
    ["check", "judge", "judge", "runners", "diffs"].map((field) => `[1].station.${field} ${message}`),
  );
});

t.test("a candidate has the profile of the live config or none, and so no other secrets", async (t) => {
  const secretive = { ...live, profile: "usual" };
  const message = "must be the profile of the live config, or null";
  t.same(listFaults([proposal("a", { profile: "other" })]), [`[0].station.profile ${message}`]);
  const list = [proposal("a", { profile: "usual" }), proposal("b", { profile: null }), proposal("c", { profile: "x" })];
  t.same(listFaults(list, { live: secretive }), [`[2].station.profile ${message}`]);
});

t.test("none may go as another of the search, as the live config, or as one beside it", async (t) => {
  const known = new Map([
    ["seed", "Build it."],
    ["bold", "Be bold."],
  ]);
  t.same(listFaults([proposal("renamed", { prompt: "Build it.", name: "Other" })], { known }), [
    "[0].station changes nothing that affects how runs of the live config go",
  ]);
  t.same(listFaults([proposal("a"), proposal("bolder", { prompt: "Be bold." })], { known }), [
    "[1].station goes like the candidate `bold`: nothing that affects its runs differs",
  ]);
  t.same(listFaults([proposal("a", { prompt: "Twice." }), proposal("b", { prompt: "Twice." })]), [
    "[1].station goes like the candidate `a`: nothing that affects its runs differs",
  ]);
});

t.test("a name is used once in a search, and never the seed's", async (t) => {
  const known = new Map([
    ["seed", "Build it."],
    ["bold", "Be bold."],
  ]);
  t.same(listFaults([proposal("seed"), proposal("bold"), proposal("new"), proposal("new")], { known, left: 4 }), [
    "[0].name cannot be `seed`, which is the live config",
    "[1].name is taken by another candidate of this search",
    "[3].name is taken by another candidate of this search",
  ]);
});

t.test("beyond what the run may still propose nothing is looked at", async (t) => {
  const untouched: Partial<ProposalContext> = {
    check: () => {
      throw new Error("looked at");
    },
  };
  const many = Array.from({ length: 1_000 }, (_, index) => proposal(`n${index}`));
  t.same(listFaults(many, untouched), ["[3] is one too many: this run may propose 3 more candidates"]);
  t.same(listFaults([proposal("a"), proposal("b")], { ...untouched, left: 1 }), [
    "[1] is one too many: this run may propose 1 more candidate",
  ]);
  t.same(listFaults([proposal("a")], { ...untouched, left: 0 }), [
    "[0] is one too many: this run may propose no more candidates",
  ]);
});

t.test("what is wrong with a block is told at its path; then none is admitted, and none compared", async (t) => {
  const check: ProposalContext["check"] = ({ harness }) =>
    harness === "none" ? [{ path: "station.harness", message: "names a harness a runner can start" }] : [];
  const list = [proposal("good"), proposal("bad", { harness: "none", prompt: "Build it." })];
  t.same(listFaults(list, { check }), ["[1].station.harness names a harness a runner can start"]);
  const many: ProposalContext["check"] = () =>
    Array.from({ length: 300 }, () => ({ path: "station", message: "is wrong" }));
  t.equal(listFaults([proposal("bad")], { check: many }).length, 200);
});

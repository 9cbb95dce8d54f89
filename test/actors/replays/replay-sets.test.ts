import fc from "fast-check";
import t from "tap";
import type { Refusal } from "../../../actors/refusal.js";
import { judgesNothing } from "../../../actors/replays/judging/model-terms.js";
import type { SetChanged } from "../../../actors/replays/sets/replay-set.messages.js";
import { replayEntries, replaySets } from "../../../actors/replays/sets/replay-set.table.js";
import { replaySetsActor } from "../../../actors/replays/sets/replay-sets.machine.js";
import { findStationNow, refuseRun } from "../../../actors/replays/sets/run-refusal.js";
import type { RunRow } from "../../../actors/runs/run.js";
import { runs } from "../../../actors/runs/run.table.js";
import { type RunInputRow, runInputs } from "../../../actors/runs/run-input.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { base, SteppedWork } from "../../support/stepped-work.js";
import { type Stepping, stepByHand } from "../../support/turn.js";
import { line, lineId, teamId, workspaceId } from "../../support/work.js";

const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;
const place = { lineId, stationId: "sta_work" };

/** The replay sets of a team, which the tests step by hand. The team has one ended run. */
class SteppedSets {
  readonly work = new SteppedWork();
  readonly rows = this.work.rows;
  readonly sets: Stepping;
  readonly run: RunRow;
  readonly input: RunInputRow;

  constructor() {
    const { runId } = this.work;
    this.work.claim();
    this.work.say({ type: "run.started", bases: [{ repository: "acme/app", base: base("a") }] });
    this.work.complete("review");
    const [run, input] = [runs.get(this.rows, workspaceId, runId), runInputs.get(this.rows, workspaceId, runId)];
    if (run === undefined || input === undefined) throw new Error("there is no run");
    [this.run, this.input] = [run, input];
    this.sets = stepByHand(replaySetsActor(judgesNothing), address(workspaceId, "replay-sets", teamId), {
      rows: this.rows,
    });
  }

  /** Writes one more ended run, for the same task. */
  putRun(id: string): string {
    if (runs.get(this.rows, workspaceId, id) === undefined) {
      runs.insert(this.rows, workspaceId, { ...this.run, id });
      runInputs.insert(this.rows, workspaceId, { ...this.input, runId: id });
    }
    return id;
  }

  tell(message: Message & Readonly<Record<string, unknown>>): SetChanged | Refusal {
    const said = { caller, ...message };
    return this.sets.take(said).answer as SetChanged | Refusal;
  }

  open(name = "A set"): string {
    const answer = this.tell({ type: "set.open", name, ...place });
    return "setId" in answer ? answer.setId : "";
  }

  /** Returns `RUN by SET` for each run that a set pins, sorted. */
  pins(): readonly string[] {
    return this.rows
      .range({ prefix: [workspaceId, "row", "pin", runs.name] })
      .map(({ key }) => key.slice(-2).join(" by "))
      .filter((text) => text.includes("rset_"))
      .sort();
  }
}

t.test("a set holds 50 runs, a team 100 sets", async (t) => {
  const scene = new SteppedSets();
  const setId = scene.open();
  for (let n = 0; n < 50; n++) {
    t.same(scene.tell({ type: "entry.add", setId, runId: scene.putRun(`run_${n}`) }), { setId, replayed: false });
  }
  t.same(scene.tell({ type: "entry.add", setId, runId: scene.putRun("run_50") }), {
    refused: "conflict",
    detail: "Replay set is full. Maximum runs: 50",
  });
  t.equal(replaySets.get(scene.rows, workspaceId, setId)?.version, 51);
  for (let n = 1; n < 100; n++) t.not(scene.open(), "");
  t.match(scene.tell({ type: "set.open", name: "One more", ...place }), {
    refused: "conflict",
    detail: "The team has its 100 replay sets. Delete one first.",
  });
});

t.test(
  "several runs are added in their order, all or none, and a refusal names each run that it is about",
  async (t) => {
    const scene = new SteppedSets();
    const setId = scene.open();
    const add = (runIds: readonly string[]) => scene.tell({ type: "entry.add", setId, runIds });
    const listed = () =>
      replayEntries.list(scene.rows, workspaceId, [setId]).map(({ runId, place: at }) => [runId, at]);
    const [first, second, third] = ["run_a", "run_b", "run_c"].map((id) => scene.putRun(id));
    t.same(add([second ?? "", first ?? ""]), { setId, replayed: false });
    const both = [
      ["run_b", 2],
      ["run_a", 3],
    ];
    t.same(listed(), both);
    t.equal(replaySets.get(scene.rows, workspaceId, setId)?.version, 3);
    const pins = scene.pins();

    runs.insert(scene.rows, workspaceId, { ...scene.run, id: "run_elsewhere", stationId: "sta_review" });
    runs.insert(scene.rows, workspaceId, { ...scene.run, id: "run_open", state: "running" });
    const refusals: readonly (readonly [readonly string[], object])[] = [
      [[third ?? "", "run_x", "run_y"], { refused: "not-found", detail: "Run run_x not found. Run run_y not found." }],
      [
        [third ?? "", "run_elsewhere", "run_a"],
        {
          refused: "invalid",
          errors: [{ path: "runIds[1]", message: "The run is from a different station than the set." }],
        },
      ],
      [
        ["run_a", third ?? "", "run_open"],
        { refused: "conflict", detail: "run_a: The run is already in the set. run_open: The run has not ended." },
      ],
      [
        Array.from({ length: 49 }, (_, n) => scene.putRun(`run_more_${n}`)),
        { refused: "conflict", detail: "Replay set is full. Maximum runs: 50" },
      ],
    ];
    for (const [runIds, refusal] of refusals) {
      t.same(add(runIds), refusal);
      t.same([listed(), scene.pins()], [both, pins], "none is added");
    }
    t.equal(replaySets.get(scene.rows, workspaceId, setId)?.version, 3);
    t.same(add([third ?? ""]), { setId, replayed: false });
    t.equal(listed().length, 3);
  },
);

t.test("why a run cannot be repeated", async (t) => {
  const { run, input, work, rows } = new SteppedSets();
  const toRefusal = (of: Partial<RunRow> = {}) =>
    refuseRun(rows, workspaceId, { ...run, ...of }, findStationNow(rows, workspaceId, place));
  t.equal(toRefusal(), null);
  t.equal(toRefusal({ stationId: "sta_review" }), "other-station");
  t.equal(toRefusal({ lineId: "line_2" }), "other-station");
  for (const state of ["queued", "claimed", "running"] as const) t.equal(toRefusal({ state }), "not-ended", state);
  t.equal(toRefusal({ id: "run_without_input" }), "no-input");

  const { beginning } = input;
  const checkouts = beginning?.checkouts.map((checkout) => ({ ...checkout, base: null })) ?? [];
  const inputs: readonly [Partial<RunInputRow>, string | null][] = [
    [{ beginning: null }, "no-input"],
    [{ claimed: null }, "no-input"],
    [{ beginning: beginning === null ? null : { ...beginning, checkouts } }, "no-base"],
    [{ beginning: beginning === null ? null : { ...beginning, checkouts: [] } }, null],
  ];
  for (const [of, expected] of inputs) {
    runInputs.put(rows, workspaceId, input, { ...input, ...of });
    t.equal(toRefusal(), expected);
  }
  runInputs.put(rows, workspaceId, input, input);

  work.putLine({ repositories: [] });
  t.equal(toRefusal(), "repository-gone");
  work.putLine({ repositories: line.repositories, stations: [{ ...line.stations[0], kind: "review" }] });
  t.equal(toRefusal(), "reviewing-station");
});

t.test("a run at another station is refused at its field, one that is not the team's is not found", async (t) => {
  const scene = new SteppedSets();
  const setId = scene.open();
  runs.insert(scene.rows, workspaceId, { ...scene.run, id: "run_elsewhere", stationId: "sta_review" });
  runs.insert(scene.rows, workspaceId, { ...scene.run, id: "run_foreign", teamId: "team_2" });
  runs.insert(scene.rows, workspaceId, { ...scene.run, id: "run_alone", taskId: null });
  runs.insert(scene.rows, workspaceId, { ...scene.run, id: "run_lost", taskId: "task_gone" });
  t.same(scene.tell({ type: "entry.add", setId, runId: "run_elsewhere" }), {
    refused: "invalid",
    errors: [{ path: "runId", message: "The run is from a different station than the set." }],
  });
  for (const runId of ["run_foreign", "run_alone", "run_lost", "run_none"]) {
    t.same(scene.tell({ type: "entry.add", setId, runId }), {
      refused: "not-found",
      detail: `Run ${runId} not found.`,
    });
  }
});

t.test("who may not plan any more is refused in the turn of the change", async (t) => {
  const scene = new SteppedSets();
  const setId = scene.open();
  const stranger = { ...caller, userId: "usr_9" };
  t.match(scene.tell({ type: "set.delete", client: null, setId, caller: stranger }), { refused: "not-found" });
  const token = { kind: "token", tokenId: "tok_1", workspaceId, scopes: ["plan"], issuedBy: "usr_1", trust: null };
  t.match(scene.tell({ type: "set.delete", client: null, setId, caller: token }), { refused: "unauthenticated" });
  t.ok(replaySets.get(scene.rows, workspaceId, setId));
});

t.test("all sets of a team go one a turn, and the actor with the last", async (t) => {
  const scene = new SteppedSets();
  for (const name of ["One", "Two"]) {
    scene.tell({ type: "entry.add", setId: scene.open(name), runId: scene.putRun("run_1") });
  }
  t.equal(scene.pins().length, 2);
  const first = scene.sets.take({ type: "sets.dissolve" });
  t.match([first.stopped, first.wakes, scene.pins()], [false, [{ name: "dissolve" }], { length: 1 }]);
  const second = scene.sets.take({ type: "woken", name: "dissolve", dueMs: 0 } as Message);
  t.ok(second.stopped);
  t.same([scene.pins(), replaySets.list(scene.rows, workspaceId)], [[], []]);
  t.ok(scene.sets.take({ type: "sets.dissolve" }).stopped, "there is nothing left to do");
});

const command = fc.record({
  type: fc.constantFrom("set.open", "set.delete", "entry.add", "entry.remove", "guard.mark"),
  set: fc.nat(3),
  run: fc.nat(4),
  guardsChanges: fc.boolean(),
});

t.test("whatever is asked, pins are of what sets hold, one set guards, and versions count the changes", async () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
      const scene = new SteppedSets();
      const opened: string[] = [];
      for (const { type, set, run, guardsChanges } of commands) {
        const setId = opened[set] ?? "rset_none";
        const versionBefore = replaySets.get(scene.rows, workspaceId, setId)?.version ?? 0;
        if (type === "set.open") opened.push(scene.open());
        else {
          const runId = scene.putRun(`run_${run}`);
          const answer = scene.tell({ type, setId, runId, guardsChanges, client: null });
          const version = replaySets.get(scene.rows, workspaceId, setId)?.version;
          const rises = "setId" in answer && type.startsWith("entry.") ? 1 : 0;
          if (version !== undefined && version !== versionBefore + rises) return false;
        }
        const held = replayEntries.list(scene.rows, workspaceId).map((entry) => `${entry.runId} by ${entry.setId}`);
        const guarding = replaySets.list(scene.rows, workspaceId).filter((each) => each.guardsChanges);
        if (scene.pins().join() !== held.sort().join() || guarding.length > 1) return false;
      }
      return true;
    }),
    { numRuns: 60 },
  );
});

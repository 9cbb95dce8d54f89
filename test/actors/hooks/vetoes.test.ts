import t from "tap";
import { type Answers, HookWorld } from "./hook-world.js";

const SEEDS = 40;
const EVENTS = 125;
const hooks = [
  { key: "refuses", on: "run.starting" },
  { key: "blocks", on: "run.starting", failure: "block" },
  { key: "tells", on: "run.starting" },
  { key: "strict", on: "run.starting", failure: "block", when: 'task.line == "dev"' },
];

/** Each hook's receiver decides by the event's number, so its answer is predictable. */
const answer: Answers = ({ hook, body }) => {
  const n = toNumber(body.occurrence);
  if (hook === "refuses" && n % 4 === 0) return { status: 200, body: '{"refuse":"not now"}' };
  if (hook === "blocks" && n % 5 === 0) return { status: n % 10 === 0 ? 500 : 404, body: "" };
  if (hook === "tells" && n % 3 === 0) return { status: 503, body: "" };
  if (hook === "strict" && n % 7 === 0) return { status: 200, body: '{"refuse":"never"}' };
  return { status: 200, body: '{"refuse":""}' };
};

const toNumber = (occurrence: string) => Number(occurrence.slice("occ_".length));
const isVetoed = (n: number) => n % 4 === 0 || n % 5 === 0 || n % 7 === 0;

t.test(
  "no vetoed step is ever carried out, over 10,000 pairs of an event and a hook, with crashes between",
  async (t) => {
    let [vetoed, taken, pairs] = [0, 0, 0];
    const wrong: string[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const world = await HookWorld.create({ seed, answer }, hooks);
      const asked: { occurrence: string; isAcknowledged: boolean }[] = [];
      for (let n = 0; n < EVENTS; n++) {
        asked.push(world.happen("run.starting"));
        await world.steps(world.between(0, 12));
        if (n % 25 === 24) await world.crashAndStart();
      }
      const acknowledged = () => asked.filter(({ isAcknowledged }) => isAcknowledged);
      await world.until(() => acknowledged().every(({ occurrence }) => world.answersTo(occurrence).length > 0));
      await world.steps(200);
      await world.until(() => acknowledged().every(({ occurrence }) => world.answersTo(occurrence).length > 0));
      for (const { occurrence } of asked) {
        const answers = world.answersTo(occurrence);
        const n = toNumber(occurrence);
        // An event has no answer if it was not on disk when the process was killed. Do not count its hooks.
        if (answers.length > 0) pairs += hooks.length;
        if (answers.length > 1) wrong.push(`seed ${seed}: ${occurrence} was answered ${answers.length} times`);
        if (isVetoed(n) && answers.includes(null)) wrong.push(`seed ${seed}: ${occurrence} was carried out`);
        const refused = answers[0] ?? null;
        if (!isVetoed(n) && refused !== null) wrong.push(`seed ${seed}: ${occurrence} was refused: ${refused}`);
        if (answers.length === 1 && isVetoed(n)) vetoed += 1;
        if (answers[0] === null) taken += 1;
      }
    }
    t.same(wrong, []);
    t.ok(pairs >= 10_000, `${pairs} pairs`);
    t.ok(vetoed > 1_000 && taken > 1_000, `both happened often: ${vetoed} and ${taken} times`);
  },
);

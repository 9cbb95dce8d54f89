import t from "tap";
import type { HookOccurrence } from "../../actors/hooks/hook-occurrence.js";
import { invalid, isRefusal, type Refusal } from "../../actors/refusal.js";
import type { GateAnswer } from "../../runtime/turns/turn.js";

const refusals: readonly Refusal[] = [
  { refused: "not-found" },
  { refused: "conflict", detail: "The task is closed." },
  { refused: "forbidden", title: "Not allowed", detail: "This needs configure.", permission: "configure" },
  { refused: "moved-on", detail: "It is at version 4.", currentVersion: 4 },
  { refused: "too-many-requests", detail: "Too many.", retryAfterSeconds: 5 },
  invalid("name", "must not be empty"),
];

t.test("refusals are told from granted answers, also after they were stored or sent", async (t) => {
  for (const refusal of refusals) {
    t.ok(isRefusal(refusal), refusal.refused);
    t.ok(isRefusal(JSON.parse(JSON.stringify(refusal))), `${refusal.refused}, read again`);
  }
  for (const granted of [null, undefined, true, "conflict", [], {}, { detail: "conflict" }, { refused: "no-slug" }]) {
    t.notOk(isRefusal(granted), JSON.stringify(granted));
  }
});

t.test("a row or message with a field `refused` is no refusal, whatever it says", async (t) => {
  for (const refused of [null, "the note names no file", "conflict", "not-found", "invalid"]) {
    const row: Pick<HookOccurrence, "id" | "state" | "refused"> = { id: "occ_1", state: "refused", refused };
    const answer: GateAnswer = { type: "gate.answered", gate: "run.starting", id: "1", refused };
    t.notOk(isRefusal(row), `a hook occurrence: ${refused}`);
    t.notOk(isRefusal(answer), `the answer of a gate: ${refused}`);
  }
  t.notOk(isRefusal({ refused: "conflict", detail: "x", currentVersion: 4 }), "a field of another refusal");
  t.notOk(isRefusal({ refused: "toString" }));
});

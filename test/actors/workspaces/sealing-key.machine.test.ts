import t from "tap";
import { createSealer } from "../../../actors/sealer.js";
import {
  findSealingKeyMark,
  sealingKeyActor,
  sealingKeyRef,
  toKeyMark,
  type UseSealingKey,
} from "../../../actors/workspaces/sealing-key.machine.js";
import { memoryRows, stepByHand } from "../../support/turn.js";

const toSealer = (byte: number) => createSealer(new Uint8Array(32).fill(byte), (count) => new Uint8Array(count));
const use = (byte: number): UseSealingKey => ({ type: "sealing.use", mark: toKeyMark(toSealer(byte)) });

t.test("the mark of the last used key is stored, and none before the first use", async (t) => {
  const rows = memoryRows();
  const actor = stepByHand(sealingKeyActor, sealingKeyRef, { rows, now: 0 });
  t.equal(findSealingKeyMark(rows), null);
  actor.take(use(1));
  t.equal(findSealingKeyMark(rows), toKeyMark(toSealer(1)));
  t.not(findSealingKeyMark(rows), toKeyMark(toSealer(2)));
  actor.take(use(2));
  t.equal(findSealingKeyMark(rows), toKeyMark(toSealer(2)));
});

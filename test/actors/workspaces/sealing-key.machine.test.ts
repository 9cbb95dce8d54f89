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

const sealerOf = (byte: number) => createSealer(new Uint8Array(32).fill(byte), (count) => new Uint8Array(count));
const use = (byte: number): UseSealingKey => ({ type: "sealing.use", mark: toKeyMark(sealerOf(byte)) });

t.test("the key that was used last is told from any other, and never before one was", async (t) => {
  const rows = memoryRows();
  const keeper = stepByHand(sealingKeyActor, sealingKeyRef, { rows, now: 0 });
  t.equal(findSealingKeyMark(rows), null);
  keeper.take(use(1));
  t.equal(findSealingKeyMark(rows), toKeyMark(sealerOf(1)));
  t.not(findSealingKeyMark(rows), toKeyMark(sealerOf(2)));
  keeper.take(use(2));
  t.equal(findSealingKeyMark(rows), toKeyMark(sealerOf(2)));
});

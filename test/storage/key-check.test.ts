import t from "tap";
import { checkKey, isKey } from "../../storage/key-check.js";
import type { Key } from "../../storage/store.js";

const good: Key = ["ws_1", "row", "resource", "secret", 1];

t.test("a bad part is refused in every place, whatever key was checked before", async (t) => {
  const bad = [undefined, null, -0, 1.5, Number.NaN, "\u0001", "\ud800", {}, true];
  for (const part of bad) {
    for (let at = 0; at < good.length; at++) {
      checkKey(good);
      const key = good.with(at, part as never);
      t.equal(isKey(key), false, `${at}`);
      t.equal(isKey(key), false, `${at}, again`);
      t.throws(() => checkKey(key), TypeError);
    }
  }
  t.equal(isKey([]), false);
});

t.test("a key's length counts each part, whatever key was checked before", async (t) => {
  const long = (part: string): Key => [part, "row", "resource", "x".repeat(1_978 - part.length - 14)];
  for (const part of ["ws_1", "ws_22", "é"]) {
    const fits = long(part === "é" ? "ee" : part);
    const key = part === "é" ? fits.with(0, part) : fits;
    t.equal(isKey(key), true, part);
    t.equal(isKey([...key.slice(0, -1), `${key.at(-1)}x`]), false, part);
    checkKey(good);
  }
});

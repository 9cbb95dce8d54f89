import t from "tap";
import { createIdentities } from "../../../runtime/turns/ids.js";
import { seededBytes } from "../../support/turn.js";

t.test("an id is its prefix and a ULID of the time", async (t) => {
  const identities = createIdentities(() => Date.parse("2026-11-21T00:00:00Z"), seededBytes(1));
  const id = identities.newId("task");
  t.match(id, /^task_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  const timeMs = [...id.slice(5, 15)].reduce((sum, letter) => sum * 32 + alphabet.indexOf(letter), 0);
  t.equal(timeMs, Date.parse("2026-11-21T00:00:00Z"));
});

t.test("ids rise within a millisecond, across milliseconds, and when the clock is set back", async (t) => {
  let nowMs = 1_000_000;
  const identities = createIdentities(() => nowMs, seededBytes(2));
  const fallen: string[] = [];
  let last = "";
  for (let count = 0; count < 5_000; count++) {
    if (count % 1_000 === 999) nowMs += count % 2_000 === 999 ? 5 : -3;
    const id = identities.newId("x");
    if (!(id > last)) fallen.push(`${id} after ${last}`);
    last = id;
  }
  t.same(fallen, []);
});

t.test("when the random part is used up within a millisecond, the time part goes on", async (t) => {
  const identities = createIdentities(
    () => 5,
    (count) => new Uint8Array(count).fill(255),
  );
  const first = identities.newId("x");
  t.equal(first, `x_0000000005${"Z".repeat(16)}`);
  t.equal(identities.newId("x"), `x_0000000006${"Z".repeat(16)}`);
});

t.test("random numbers lie in [0, 1) and bytes come from the source of chance", async (t) => {
  const identities = createIdentities(() => 5, seededBytes(3));
  const drawn = Array.from({ length: 1_000 }, () => identities.random());
  t.same(
    drawn.filter((value) => !(value >= 0 && value < 1)),
    [],
  );
  t.same(identities.bytes(4).length, 4);
  const highest = createIdentities(
    () => 5,
    (count) => new Uint8Array(count).fill(255),
  ).random();
  t.ok(highest < 1);
});

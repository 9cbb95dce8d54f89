import { randomBytes } from "node:crypto";
import t from "tap";
import { createSealer } from "../../actors/sealer.js";

t.test("what is sealed opens to what it was, under its key alone, however much was sealed before", async (t) => {
  const key = randomBytes(32);
  const sealer = createSealer(key, randomBytes);
  const texts = ["", "0123456789abcdef", "é".repeat(1_000), "x".repeat(70_000)];
  const again = createSealer(key, randomBytes);
  for (const text of texts) t.equal(again.open(sealer.seal(text)), text);
  t.throws(() => createSealer(randomBytes(32), randomBytes).open(sealer.seal("x")));
  const sealed = Array.from({ length: 1_000 }, () => sealer.seal("x"));
  t.equal(new Set(sealed.map((text) => text.split(".")[1])).size, sealed.length, "no nonce is used twice");
  t.match(sealed, Array(sealed.length).fill(/^v1\.[\w-]{16}\.[\w-]{22}\.[\w-]{2}$/));
  t.ok(sealed.every((text) => again.open(text) === "x"));
});

import t from "tap";
import { startScripted } from "./scripted-service.js";

const body = { ok: true };

t.test("a lost answer and one without room are asked for again, after what they say to wait", async (t) => {
  const said = [
    "lost",
    { status: 503, headers: { "retry-after": "7" } },
    { status: 429 },
    { status: 502 },
    { status: 200, body },
  ] as const;
  const scripted = await startScripted(t, (_, nth) => said[nth - 1] ?? "lost");
  t.same(await scripted.service.post("/x", { a: 1 }, "key"), { status: 200, body });
  t.same(scripted.waits, [1_000, 7_000, 4_000, 8_000]);
  t.same(
    new Set(scripted.came.map(({ headers, body }) => `${headers["idempotency-key"]} ${JSON.stringify(body)}`)).size,
    1,
  );
  t.equal(scripted.logged.length, 4);
  t.notMatch(scripted.logged.join("\n"), "kept-token");
});

t.test("it is asked again for ten minutes at most, and then said so", async (t) => {
  const scripted = await startScripted(t, () => ({ status: 500 }));
  await t.rejects(scripted.service.get("/x"), {
    name: "CouldNotAsk",
    message: /answered 500, and \d+ attempts failed/,
  });
  const waited = scripted.waits.reduce((sum, ms) => sum + ms, 0);
  t.ok(waited > 9 * 60_000 && waited <= 10 * 60_000, `${waited} ms`);
});

t.test("who asks to wait for no time is not asked without rest", async (t) => {
  for (const soon of ["0", "", "1e-9", "-5", "soon"]) {
    const said = { status: 503, headers: { "retry-after": soon } };
    const scripted = await startScripted(t, (_, nth) => (nth <= 3 ? said : { status: 200, body }));
    t.same(await scripted.service.get("/x"), { status: 200, body });
    t.same(scripted.waits, [1_000, 2_000, 4_000], `retry-after: ${soon}`);
  }
});

t.test("who asks to wait for long is not waited for", async (t) => {
  const scripted = await startScripted(t, () => ({ status: 429, headers: { "retry-after": "3600" } }));
  await t.rejects(scripted.service.get("/x"), { message: /answered 429, and 1 attempts/ });
});

t.test("any other answer is one, and a redirect is not followed with the token", async (t) => {
  for (const status of [200, 307, 400, 403, 404, 409, 422]) {
    const scripted = await startScripted(t, () => ({ status, body, headers: { location: "/elsewhere" } }));
    t.same(await scripted.service.get("/x"), { status, body });
    t.equal(scripted.came.length, 1);
  }
});

t.test("what is no JSON reads as nothing", async (t) => {
  const scripted = await startScripted(t, () => ({ status: 200 }));
  t.same(await scripted.service.get("/x"), { status: 200, body: null });
});

t.test("told to end, it stops waiting and asks no more", async (t) => {
  const scripted = await startScripted(t, () => {
    scripted.end();
    return "lost";
  });
  await t.rejects(scripted.service.get("/x"), { name: "Interrupted" });
  await t.rejects(scripted.service.get("/x"), { name: "Interrupted" });
  t.equal(scripted.came.length, 1);
});

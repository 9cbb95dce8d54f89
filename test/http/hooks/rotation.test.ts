import { Webhook as Reference } from "standardwebhooks";
import { Webhook as Svix } from "svix";
import t from "tap";
import { type HookRequest, hookSecret } from "../../support/hook-receiver.js";
import { hook, hookScene, ok } from "../../support/hook-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { replace, toProblem } from "../../support/resources.js";
import type { Cleaning } from "../../support/service.js";
import { until } from "../../support/until.js";

const HOUR_MS = 60 * 60 * 1_000;
const toSecret = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`;

/** Returns, for each secret, whether each of the two libraries accepts the request. */
function takenUnder({ headers, text }: HookRequest, secrets: readonly string[]): boolean[][] {
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  const takes = (verify: () => unknown) => {
    try {
      verify();
      return true;
    } catch {
      return false;
    }
  };
  return secrets.map((secret) => [
    takes(() => new Reference(secret).verify(text, named)),
    takes(() => new Svix(secret).verify(text, named)),
  ]);
}

const both = [true, true];
const neither = [false, false];

async function arrange(test: Cleaning, hours: string) {
  // The libraries use their own clock, with a tolerance of five minutes in each direction.
  const clock = new ManualClock(Date.now());
  const environment = { HOOK_ROTATION_HOURS: hours };
  const scene = await hookScene(test, ok, { clock, environment });
  const body = { ...hook(scene.receiver.url), on: "task.opened" };
  const id = await scene.addHook(body);
  const rotate = async (version: number, to: string) => {
    const fields = { ...body, signing: { secret: to, secretVersion: version } };
    const made = await replace(scene.owner, `/api/resources/hooks/${id}`, version - 1, fields);
    if (made.status !== 200) throw new Error(made.text);
    return made;
  };
  let count = 0;
  const next = async (): Promise<HookRequest> => {
    await scene.openTask();
    count += 1;
    const request = (await scene.receiver.arrived(count))[count - 1];
    if (request === undefined) throw new Error("no request came");
    return request;
  };
  return { ...scene, id, clock, rotate, next };
}

t.test("for some hours after a rotation both secrets verify, by the reference library and by svix", async (t) => {
  const { rotate, next, clock, owner, id, service, workspaceId } = await arrange(t, "2");
  t.same(takenUnder(await next(), [hookSecret]), [both]);
  const made = await rotate(2, toSecret(8));
  t.notMatch(made.text, /whsec_/, "no secret is given back");
  const during = await next();
  t.match(during.headers["webhook-signature"], /^v1,\S+ v1,\S+$/);
  t.same(takenUnder(during, [hookSecret, toSecret(8), toSecret(9)]), [both, both, neither]);
  await rotate(3, toSecret(9));
  t.same(takenUnder(await next(), [hookSecret, toSecret(8), toSecret(9)]), [neither, both, both], "the last two");

  const kept = () => service.runtime.reading.range({ prefix: [workspaceId, "row", "hook-previous-secret"] });
  t.equal(kept().length, 1);
  t.notMatch(JSON.stringify(kept()), /whsec_/, "it is sealed");
  clock.advance(2 * HOUR_MS);
  const after = await next();
  t.match(after.headers["webhook-signature"], /^v1,\S+$/, "one signature");
  await until("the secret before to be gone", () => kept().length === 0);
  const read = await owner.request("GET", `/api/resources/hooks/${id}`);
  t.match(read.body, { signing: { secretVersion: 3 } });
});

t.test("a change that rotates nothing keeps the two, and a deleted hook keeps none", async (t) => {
  const { rotate, next, owner, id, receiver, service, workspaceId } = await arrange(t, "2");
  await rotate(2, toSecret(8));
  const same = { ...hook(receiver.url, { timeoutSeconds: 5 }), signing: { secretVersion: 2 } };
  t.equal((await replace(owner, `/api/resources/hooks/${id}`, 2, same)).status, 200);
  t.same(takenUnder(await next(), [hookSecret, toSecret(8)]), [both, both]);
  const kept = () => service.runtime.reading.range({ prefix: [workspaceId, "row", "hook-previous-secret"] });
  t.equal(kept().length, 1);
  await owner.request("DELETE", `/api/resources/hooks/${id}`, undefined, { "if-match": '"3"' });
  await until("the secret before to be gone", () => kept().length === 0);
});

t.test("the same secret given again under its version changes nothing; another one does not pass", async (t) => {
  const { owner, id, receiver } = await arrange(t, "0");
  const path = `/api/resources/hooks/${id}`;
  const body = { ...hook(receiver.url), on: "task.opened" };
  const signed = (secret: string, secretVersion = 1) => ({ ...body, signing: { secret, secretVersion } });
  const again = await replace(owner, path, 1, signed(hookSecret));
  t.match([again.status, again.headers.etag, again.body?.version], [200, '"1"', 1], again.text);
  const other = await replace(owner, path, 1, signed(toSecret(8)));
  t.match(toProblem(other).errors, [{ path: "signing.secretVersion", message: /must change/ }]);
  t.equal((await replace(owner, path, 1, signed(toSecret(8), 2))).status, 200);
  const stale = await replace(owner, path, 1, signed(hookSecret));
  t.equal(stale.status, 409, "based on an earlier version");
  const former = await replace(owner, path, 2, signed(hookSecret, 2));
  t.equal(former.status, 422, "an earlier secret is another one");
});

t.test("without the setting a rotation is at once", async (t) => {
  const { rotate, next } = await arrange(t, "0");
  await rotate(2, toSecret(8));
  t.same(takenUnder(await next(), [hookSecret, toSecret(8)]), [neither, both]);
});

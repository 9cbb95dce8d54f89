import t, { type Test } from "tap";
import type { Kind } from "../../actors/resources/kind.js";
import { bearer, createUnder, remove, replace, toProblem, toSlug } from "../support/resources.js";
import type { Reply } from "../support/service.js";
import { allKinds, type KindScene, kindScene, writable } from "./kind-scene.js";

for (const kind of allKinds) {
  t.test(`the six operations of a ${kind.name}`, async (t) => {
    const scene = await kindScene(t, kind);
    const created = await creates(t, kind, scene);
    const one = scene.one({ id: created.body?.id });
    const version = kind.isNeverReplaced === true ? 1 : 2;
    const current = kind.isNeverReplaced === true ? created : await replaces(t, kind, scene, one);
    if (kind.isNeverReplaced === true) t.equal((await replace(scene.owner, one, 1, scene.body(1))).status, 405);
    await finds(t, scene, current);
    await hides(t, kind, scene, one);
    await refusesTokens(t, kind, scene, { one, version });

    t.equal((await remove(scene.owner, one, version + 7)).status, 409);
    const deleted = await remove(scene.owner, one, version);
    t.equal(deleted.status, 204, deleted.text);
    t.equal((await scene.owner.request("GET", one)).status, 404);
    t.equal((await remove(scene.owner, one, version)).status, 404);
  });
}

async function creates(t: Test, kind: Kind, { owner, create, body, example, one }: KindScene): Promise<Reply> {
  const created = await createUnder(owner, create, body(1), "once");
  t.equal(created.status, 201, created.text);
  t.equal(created.headers.etag, '"1"');
  t.equal(created.headers["service-api-version"], "2026-09-23");
  const read = await owner.request("GET", one({ id: created.body?.id }));
  t.same(read.body, created.body, "a create returns exactly what a read does");
  for (const { path } of kind.hidden) t.notMatch(read.text, hiddenMember(path), `${path} is not read back`);
  t.equal(kind.reveals === undefined, created.headers[kind.reveals?.header ?? "none"] === undefined);

  const again = await createUnder(owner, create, body(1), "once");
  t.same([again.status, again.body, again.headers["idempotent-replayed"]], [201, created.body, "true"]);
  if (kind.reveals !== undefined) t.equal(again.headers[kind.reveals.header], undefined, "told once");
  const reused = await createUnder(owner, create, body(2), "once");
  t.same([reused.status, toSlug(reused)], [422, "idempotency-key-reused"]);
  const taken = await createUnder(owner, create, body(1), "another");
  t.same([taken.status, toSlug(taken)], [409, "already-exists"]);
  t.match(toProblem(taken).detail ?? "", /import/);
  const noKey = await owner.request("POST", create, body(3));
  t.same([noKey.status, toSlug(noKey)], [400, "idempotency-key-required"]);
  const wrong = await createUnder(owner, create, example.wrong.body, "wrong");
  t.equal(wrong.status, 422);
  t.ok(
    toProblem(wrong).errors?.some(({ path }) => path === example.wrong.path),
    wrong.text,
  );
  const odd = await createUnder(owner, create, { ...body(4), "odd field": 1 }, "odd");
  t.same([odd.status, toProblem(odd).errors?.[0]?.path], [422, '["odd field"]']);
  return created;
}

async function replaces(t: Test, kind: Kind, { owner, example }: KindScene, one: string): Promise<Reply> {
  const body = example.updated?.(1) ?? null;
  if (body === null) throw new Error(`give ${kind.name} a body of an update`);
  t.equal((await owner.request("PUT", one, body)).status, 428);
  for (const tag of ['W/"1"', "*", '"1", "2"', "1", '"one"', '""', '"1', '"-1"', '"1.0"']) {
    const malformed = await owner.request("PUT", one, body, { "if-match": tag });
    t.same([malformed.status, toSlug(malformed)], [400, "malformed-if-match"], `If-Match: ${tag}`);
  }
  const updated = await replace(owner, one, 1, body);
  t.same([updated.status, updated.headers.etag], [200, '"2"'], updated.text);
  t.same((await owner.request("GET", one)).body, updated.body, "an update returns exactly what a read does");
  const stale = await replace(owner, one, 1, body);
  t.same([stale.status, toSlug(stale), toProblem(stale).currentVersion], [409, "moved-on", 2]);
  const same = await replace(owner, one, 2, writable(kind, updated));
  t.same([same.status, same.headers.etag, same.body], [200, '"2"', updated.body], `no change: ${same.text}`);
  const back = await replace(owner, one, 2, updated.body);
  t.same([back.status, back.headers.etag, back.body], [200, '"2"', updated.body], `what was read: ${back.text}`);
  for (const name of ["id", "version", "address", ...Object.keys(kind.added ?? {})]) {
    const other = await replace(owner, one, 2, { ...updated.body, [name]: "other" });
    t.same(toProblem(other).errors, [{ path: name, message: "is read-only", severity: "error" }], other.text);
  }
  const staleBack = await replace(owner, one, 1, { ...updated.body, version: 1 });
  t.same([staleBack.status, toSlug(staleBack)], [409, "moved-on"]);
  if (example.fixed !== null) {
    const fixed = await replace(owner, one, 2, example.fixed.body(1));
    t.same([fixed.status, toProblem(fixed).errors?.[0]?.path], [422, example.fixed.path], fixed.text);
  }
  return updated;
}

/** Checks that the resource is found by its address and in the list. */
async function finds(t: Test, scene: KindScene, current: Reply): Promise<void> {
  const { owner, create, list, body, example } = scene;
  const at = (address: string) => owner.request("GET", `${scene.import}?address=${encodeURIComponent(address)}`);
  t.same((await at(String(current.body?.address))).body, current.body);
  t.equal((await at("a/b/c/d")).status, 404);
  t.equal((await owner.request("GET", scene.import)).status, 400, "an address is needed");
  if (example.isAlone !== true) await owner.create(create, body(0));
  const { items } = (await owner.request("GET", list)).body as unknown as { items: { address: string }[] };
  const addresses = items.map(({ address }) => address);
  t.same(addresses, [...addresses].sort(), "a list is in address order");
  t.same(
    items.find(({ address }) => address === current.body?.address),
    current.body,
    "each as a read returns it",
  );
}

async function hides(t: Test, kind: Kind, { service, list }: KindScene, one: string): Promise<void> {
  t.equal((await service.anonymous.request("GET", one)).status, 401);
  const stranger = await service.signIn("stranger@example.com");
  const hidden = await stranger.request("GET", one);
  const absent = await stranger.request("GET", one.replace(/[^_]+$/, "0".repeat(26)));
  t.same([hidden.status, hidden.text], [absent.status, absent.text], "what may not be seen is as what is not there");
  const listed = await stranger.request("GET", list);
  if (kind.heldBy === "none") t.same(listed.body, { items: [] });
  else t.same([listed.status, listed.text], [absent.status, absent.text]);
}

function hiddenMember(path: string): RegExp {
  return new RegExp(`"${path.split(".").at(-1)}":`);
}

/** Checks that a token can read the resource, but can write only if its scopes allow it. */
async function refusesTokens(
  t: Test,
  kind: Kind,
  { service, owner, workspaceId, example }: KindScene,
  { one, version }: { readonly one: string; readonly version: number },
): Promise<void> {
  const mine = kind.heldBy !== "none";
  const reader = await bearer(service, owner, { workspaceId, name: "reads", scopes: ["read"] });
  t.equal((await reader.request("GET", one)).status, mine ? 200 : 404);
  const updated = example.updated?.(1);
  const refused = await (updated === undefined ? remove(reader, one, version) : replace(reader, one, version, updated));
  if (!mine) return void t.equal(refused.status, 404);
  const title =
    kind.permission === "plan"
      ? "Not allowed to plan"
      : `${verbs[kind.permission] ?? "Not allowed to change"} the ${kind.name}`;
  t.same([refused.status, toProblem(refused).permission, refused.body?.title], [403, kind.permission, title]);
}

const verbs: Readonly<Record<string, string>> = { administer: "Not allowed to administer" };

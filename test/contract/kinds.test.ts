import t, { type Test } from "tap";
import { createKinds } from "../../actors/kinds.js";
import { parseAllowList } from "../../actors/outbound/allow-list.js";
import type { Kind } from "../../actors/resources/kind.js";
import { exampleBodyOf } from "../../http/openapi/kind-examples.js";
import { bearer, createUnder, problemOf, remove, replace, slugOf, workspaceWithTeam } from "../support/resources.js";
import { type Client, startTestService, type TestService } from "../support/service.js";
import { exampleSettings, kindExamples } from "./kind-examples.js";

const kinds = createKinds({ allowList: parseAllowList(exampleSettings.OUTBOUND_ALLOW), signsTokens: false });
const base = "/api/resources";

for (const kind of kinds) {
  t.test(`the six operations of a ${kind.name}`, async (t) => {
    const example = kindExamples[kind.name];
    const body = exampleBodyOf(kind.name);
    if (example === undefined || body === undefined) {
      throw new Error(
        `give ${kind.name} an example here in kind-examples.ts and a body in http/openapi/kind-examples.ts`,
      );
    }
    const service = await startTestService(t, { settings: exampleSettings });
    const owner = await service.signIn("owner@example.com");
    const stranger = await service.signIn("stranger@example.com");
    const { workspaceId, teamId } = await workspaceWithTeam(owner);
    const paths = pathsOf(kind, workspaceId, teamId);
    for (const needed of example.needs ?? []) {
      await owner.create(`${base}/workspaces/${workspaceId}/${needed.collection}`, needed.body);
    }

    const created = await createUnder(owner, paths.create, body(1), "once");
    t.equal(created.status, 201, created.text);
    t.equal(created.headers.etag, '"1"');
    t.equal(created.headers["service-api-version"], "2026-09-23");
    const one = `${base}/${kind.plural}/${created.body?.id}`;

    const read = await owner.request("GET", one);
    t.same(read.body, created.body, "a create returns exactly what a read does");
    for (const { path } of kind.hidden) t.notMatch(read.text, hiddenMember(path), `${path} is not read back`);
    t.equal(kind.reveals === undefined, created.headers[kind.reveals?.header ?? "none"] === undefined);

    const again = await createUnder(owner, paths.create, body(1), "once");
    t.same([again.status, again.body, again.headers["idempotent-replayed"]], [201, created.body, "true"]);
    if (kind.reveals !== undefined) t.equal(again.headers[kind.reveals.header], undefined, "told once");
    const reused = await createUnder(owner, paths.create, body(2), "once");
    t.same([reused.status, slugOf(reused)], [422, "idempotency-key-reused"]);
    const taken = await createUnder(owner, paths.create, body(1), "another");
    t.same([taken.status, slugOf(taken)], [409, "already-exists"]);
    t.match(problemOf(taken).detail ?? "", /import/);
    const noKey = await owner.request("POST", paths.create, body(3));
    t.same([noKey.status, slugOf(noKey)], [400, "idempotency-key-required"]);
    const wrong = await createUnder(owner, paths.create, example.wrong.body, "wrong");
    t.equal(wrong.status, 422);
    t.ok(
      problemOf(wrong).errors?.some(({ path }) => path === example.wrong.path),
      wrong.text,
    );
    const odd = await createUnder(owner, paths.create, { ...body(4), "odd field": 1 }, "odd");
    t.same([odd.status, problemOf(odd).errors?.[0]?.path], [422, '["odd field"]']);

    t.equal((await owner.request("PUT", one, example.updated(1))).status, 428);
    const weak = await owner.request("PUT", one, example.updated(1), { "if-match": 'W/"1"' });
    t.same([weak.status, slugOf(weak)], [400, "malformed-if-match"]);
    const updated = await replace(owner, one, 1, example.updated(1));
    t.same([updated.status, updated.headers.etag], [200, '"2"'], updated.text);
    t.same((await owner.request("GET", one)).body, updated.body, "an update returns exactly what a read does");
    const stale = await replace(owner, one, 1, example.updated(1));
    t.same([stale.status, slugOf(stale), problemOf(stale).currentVersion], [409, "moved-on", 2]);
    if (example.fixed !== null) {
      const fixed = await replace(owner, one, 2, example.fixed.body(1));
      t.same([fixed.status, problemOf(fixed).errors?.[0]?.path], [422, example.fixed.path], fixed.text);
    }

    const imported = await owner.request(
      "GET",
      `${paths.import}?address=${encodeURIComponent(String(updated.body?.address))}`,
    );
    t.same(imported.body, updated.body);
    t.equal((await owner.request("GET", `${paths.import}?address=nothing-here`)).status, 404);
    if (example.isAlone !== true) await owner.create(paths.create, body(0));
    const { items } = (await owner.request("GET", paths.list)).body as unknown as { items: { address: string }[] };
    const addresses = items.map(({ address }) => address);
    t.same(addresses, [...addresses].sort(), "a list is in address order");
    t.ok(addresses.includes(String(updated.body?.address)));

    t.equal((await service.anonymous.request("GET", one)).status, 401);
    const hidden = await stranger.request("GET", one);
    const absent = await stranger.request("GET", `${base}/${kind.plural}/${"0".repeat(26)}`);
    t.same([hidden.status, hidden.text], [absent.status, absent.text], "what may not be seen is as what is not there");
    await refusesTokens(t, service, kind, owner, { workspaceId, one, example: example.updated(1) });

    t.equal((await remove(owner, one, 1)).status, 409);
    const deleted = await remove(owner, one, 2);
    t.equal(deleted.status, 204, deleted.text);
    t.equal((await owner.request("GET", one)).status, 404);
    t.equal((await remove(owner, one, 2)).status, 404);
  });
}

function hiddenMember(path: string): RegExp {
  return new RegExp(`"${path.split(".").at(-1)}":`);
}

function pathsOf(kind: Kind, workspaceId: string, teamId: string) {
  const all = kind.heldBy === "none" ? `${base}/workspaces` : `${base}/workspaces/${workspaceId}/${kind.plural}`;
  const create = kind.heldBy === "team" ? `${base}/teams/${teamId}/${kind.plural}` : all;
  return { create, list: all, import: `${all}/import` };
}

/** A token reads, and writes only what its scopes allow. */
async function refusesTokens(
  t: Test,
  service: TestService,
  kind: Kind,
  owner: Client,
  of: { readonly workspaceId: string; readonly one: string; readonly example: Record<string, unknown> },
): Promise<void> {
  const mine = kind.heldBy !== "none";
  const reader = await bearer(service, owner, { workspaceId: of.workspaceId, name: "reads", scopes: ["read"] });
  t.equal((await reader.request("GET", of.one)).status, mine ? 200 : 404);
  const refused = await replace(reader, of.one, 2, of.example);
  if (!mine) return void t.equal(refused.status, 404);
  t.same([refused.status, problemOf(refused).permission], [403, kind.permission], refused.text);
}

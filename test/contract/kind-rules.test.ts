import t, { type Test } from "tap";
import type { Kind } from "../../actors/resources/kind.js";
import { ManualClock } from "../support/manual-clock.js";
import { createUnder, remove, toProblem, toSlug } from "../support/resources.js";
import type { Client } from "../support/service.js";
import { allKinds, type KindScene, kindScene, writable } from "./kind-scene.js";

const HOUR_MS = 60 * 60 * 1_000;

interface Change {
  readonly resource: string;
  readonly resourceId: string;
  readonly key: string;
  readonly action: string;
  readonly client: string | null;
  readonly by: { readonly kind: string; readonly userId: string | null };
}

async function listChanges(owner: Client): Promise<readonly Change[]> {
  const { body } = await owner.request("GET", "/api/workspaces/acme/configuration-changes");
  return body?.items as readonly Change[];
}

for (const kind of allKinds) {
  t.test(`the rules that every kind shares, on a ${kind.name}`, async (t) => {
    const clock = new ManualClock();
    const scene = await kindScene(t, kind, { clock });
    await t.test("idempotency keys belong to one caller and have 1 to 255 visible characters", (t) =>
      keepsKeysApart(t, kind, scene),
    );
    if (kind.heldBy !== "none") {
      await t.test("each change is recorded with who made it and by which client", (t) =>
        recordsChanges(t, kind, scene),
      );
    }
    if (kind.heldBy === "team" || kind.heldBy === "station") {
      await t.test("a list covers every team, in address order", (t) => listsTeams(t, scene));
    }
    await t.test("a repeated create is recognised for 24 hours, even when the resource was deleted", (t) =>
      recognises(t, kind, scene, clock),
    );
    await t.test("a closed workspace shows no resources to anyone", (t) => closes(t, kind, scene));
  });
}

async function recognises(t: Test, kind: Kind, { owner, create, body, one }: KindScene, clock: ManualClock) {
  const made = await createUnder(owner, create, body(51), "a-key");
  t.equal(made.status, 201, made.text);
  clock.advance(24 * HOUR_MS - 1);
  const again = await createUnder(owner, create, body(51), "a-key");
  t.same([again.status, again.body?.id, again.headers["idempotent-replayed"]], [201, made.body?.id, "true"]);
  t.equal((await remove(owner, one({ id: made.body?.id }), 1)).status, 204);
  const gone = await createUnder(owner, create, body(51), "a-key");
  t.same([gone.status, toSlug(gone)], [409, "conflict"], "it creates nothing more");
  clock.advance(1);
  const anew = await createUnder(owner, create, body(51), "a-key");
  // A closed workspace keeps its slug reserved, so the repeated creation fails.
  if (kind.heldBy === "none") t.same([anew.status, toSlug(anew)], [409, "already-exists"]);
  else t.same([anew.status, anew.headers["idempotent-replayed"]], [201, undefined], anew.text);
  t.not(anew.body?.id, made.body?.id);
  if (anew.status === 201) t.equal((await remove(owner, one({ id: anew.body?.id }), 1)).status, 204);
}

async function keepsKeysApart(t: Test, kind: Kind, { service, owner, create, body, one }: KindScene) {
  for (const key of ["two words", "x".repeat(256), "a-\xfc-b"]) {
    const refused = await createUnder(owner, create, body(31), key);
    t.same([refused.status, toSlug(refused)], [400, "bad-request"], key);
  }
  const made = await createUnder(owner, create, body(31), "~".repeat(255));
  t.equal(made.status, 201);
  const other = await service.signIn("other@example.com");
  const theirs = await createUnder(other, create, body(31), "~".repeat(255));
  t.notOk(theirs.headers["idempotent-replayed"]);
  t.same([theirs.status, toSlug(theirs)], kind.heldBy === "none" ? [409, "already-exists"] : [404, "not-found"]);
  if (kind.heldBy !== "none") t.equal((await remove(owner, one({ id: made.body?.id }), 1)).status, 204);
}

/** Values of the `Service-Client` header, each with the client that the service records for the change. */
const clients = [
  ["iac-provider/1.2.3", "iac-provider/1.2.3"],
  ["web", "web"],
  ["somebody else", "unknown"],
  ["", "unknown"],
] as const;

async function recordsChanges(t: Test, kind: Kind, { owner, create, body, one, example }: KindScene) {
  const { body: session } = await owner.request("GET", "/api/sessions/me");
  const headers = (index: number, more: Record<string, string>) => ({
    ...more,
    "service-client": clients[index]?.[0] ?? "",
  });
  const made = await owner.request("POST", create, body(41), headers(0, { "idempotency-key": "recorded" }));
  const path = one({ id: made.body?.id });
  const updated = example.updated?.(41);
  const updates = updated === undefined ? [] : [1];
  for (const index of updates) {
    const answer = await owner.request("PUT", path, updated, headers(index, { "if-match": `"${index}"` }));
    t.equal(answer.status, 200, answer.text);
    const same = await owner.request("PUT", path, writable(kind, answer), headers(2, { "if-match": '"2"' }));
    t.same([same.status, same.body], [200, answer.body], "what changes nothing is not recorded");
  }
  t.equal((await remove(owner, path, 1 + updates.length)).status, 204);
  const recorded = (await listChanges(owner)).filter(({ resourceId }) => resourceId === made.body?.id).reverse();
  const by = { kind: "person", userId: session?.userId, tokenId: null, trust: null };
  const expected = [["created", 0], ...updates.map((index) => ["updated", index] as const), ["deleted", 3]] as const;
  t.same(
    recorded.map(({ resource, action, client, by }) => ({ resource, action, client, by })),
    expected.map(([action, index]) => ({ resource: kind.name, action, client: clients[index]?.[1], by })),
  );
  t.same(new Set(recorded.map(({ key }) => key)), new Set([String(made.body?.address).split("/").at(-1)]));
}

async function closes(t: Test, kind: Kind, { owner, create, body, one, list, workspaceId }: KindScene) {
  const isWorkspace = kind.heldBy === "none";
  const made = isWorkspace ? { id: workspaceId } : await owner.create(create, body(61));
  t.equal((await remove(owner, `/api/resources/workspaces/${workspaceId}`, 1)).status, 204);
  const absent = await owner.request("GET", one({ id: made.id.replace(/[^_]+$/, "0".repeat(26)) }));
  t.equal(absent.status, 404);
  const answers = [
    await owner.request("GET", one(made)),
    await remove(owner, one(made), 1),
    ...(isWorkspace ? [] : [await owner.request("GET", list), await createUnder(owner, create, body(62), "late")]),
  ];
  for (const answer of answers) t.same([answer.status, answer.text], [404, absent.text]);
}

async function listsTeams(t: Test, { owner, create, body, list, inTeam, teamId }: KindScene) {
  const places = [create, await inTeam("core-2"), await inTeam("a"), await inTeam("zz")];
  for (const [index, place] of places.entries()) {
    for (const n of [2, 1]) t.equal((await createUnder(owner, place, body(n), `${index}-${n}`)).status, 201);
  }
  const { items } = (await owner.request("GET", list)).body as { items: { address: string; teamId: string }[] };
  const addresses = items.map(({ address }) => address);
  t.same(addresses, [...addresses].sort());
  t.equal(addresses.length >= 8, true);
  t.same(
    [...new Set(addresses.map((address) => address.split("/")[0]))],
    ["a", "core-2", "core", "zz"],
    "an address is one text, and - comes before /",
  );
  t.ok(items.some((item) => item.teamId === teamId));
}

t.test("error paths have the documented form, whatever names they contain", async (t) => {
  const [line] = allKinds.filter(({ name }) => name === "line");
  const [hook] = allKinds.filter(({ name }) => name === "hook");
  if (line === undefined || hook === undefined) throw new Error("there are lines and hooks");
  const { owner, create } = await kindScene(t, hook);
  const refused = await createUnder(
    owner,
    create,
    {
      key: "Odd",
      on: "task.moved",
      "odd key": 1,
      signing: { secretVersion: 0 },
      vars: { "1st": "x", plain: 1 },
      steps: [
        { name: "a", request: { url: "", headers: { "x y": "1", plain: 2 } } },
        { name: "a", "odd one": true },
      ],
    },
    "paths",
  );
  t.same(
    toProblem(refused)
      .errors?.map(({ path }) => path)
      .sort(),
    [
      ...["key", 'vars["1st"]', "vars.plain", "steps[0].request.url", 'steps[0].request.headers["x y"]'],
      ...["steps[0].request.headers.plain", 'steps[1]["odd one"]', "signing.secretVersion", '["odd key"]'],
    ].sort(),
  );
  t.equal(
    toProblem(refused).detail,
    toProblem(refused)
      .errors?.map(({ path, message }) => `${path}: ${message}`)
      .join("\n"),
  );
});

t.test("a name reserved by JavaScript is refused at its path, not dropped", async (t) => {
  const profile = allKinds.find(({ name }) => name === "harness-profile");
  if (profile === undefined) throw new Error("there are harness profiles");
  const { owner, create } = await kindScene(t, profile);
  const send = (text: string, key: string) =>
    owner.request("POST", create, text, { "content-type": "application/json", "idempotency-key": key });
  const refused = await send('{"key":"a","env":{"__proto__":"x"}}', "lost");
  t.same([refused.status, toProblem(refused).errors?.map(({ path }) => path)], [422, ["env.__proto__"]]);
  const kept = await send('{"key":"a","env":{"constructor":"x","toString":"y","hasOwnProperty":"z"}}', "kept");
  t.same(kept.body?.env, { constructor: "x", toString: "y", hasOwnProperty: "z" });
});

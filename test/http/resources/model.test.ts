import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import t from "tap";
import {
  type Expected,
  type IfMatch,
  type ModelBody,
  type ModelCommand,
  type ModelKind,
  type ModelResource,
  modelKinds,
  ResourceModel,
} from "../../support/resource-model.js";
import { createUnder, toProblem, toSlug } from "../../support/resources.js";
import { type Client, type Reply, startTestService } from "../../support/service.js";

/** Tests the six operations on a real service, in any order. A model predicts each answer. */

const base = "/api/resources";
const toSecret = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`;

const body: fc.Arbitrary<ModelBody> = fc.record({
  key: fc.nat(2),
  variant: fc.integer({ min: 1, max: 3 }),
  flag: fc.boolean(),
  line: fc.nat(2),
});
const kind = fc.constantFrom(...modelKinds);
const ifMatch = fc.oneof(
  { weight: 6, arbitrary: fc.constant<IfMatch>("current") },
  { weight: 1, arbitrary: fc.constantFrom<IfMatch>("stale", "absent", "weak") },
);
const command: fc.Arbitrary<ModelCommand> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ op: fc.constant("create" as const), kind, team: fc.nat(3), body, idempotency: fc.nat(40) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("repeat" as const), of: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom("read" as const, "import" as const), of: fc.nat(30) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("update" as const),
      of: fc.nat(30),
      body,
      ifMatch,
      renames: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("delete" as const), of: fc.nat(30), ifMatch }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("list" as const), kind }) },
);

const plurals: Readonly<Record<ModelKind, string>> = { team: "teams", secret: "secrets", line: "lines", hook: "hooks" };

/** Expands a reduced body to an API body. */
function readBody(of: ModelKind, { key, variant, flag, line }: ModelBody, previous: ModelBody | null): unknown {
  const named = `${of}-${key}`;
  switch (of) {
    case "team":
      return { key: named, name: `Team ${variant} ${flag} ${line}` };
    case "secret":
      return { name: named, valueVersion: variant, hosts: [`h${line}.example.com`], ...(flag ? { value: "v" } : {}) };
    case "line":
      return { key: named, name: `${variant} ${flag} ${line}`, stations: [{ key: "work", name: "W", kind: "work" }] };
    case "hook": {
      const isNew = previous === null || previous.variant !== variant;
      return {
        key: named,
        on: "task.moved",
        match: flag ? { lines: [`line-${line}`] } : {},
        timeoutSeconds: line + 1,
        steps: [{ name: "tell", request: { url: "https://hooks.example.com/in" } }],
        signing: { secretVersion: variant, ...(isNew ? { secret: toSecret(variant) } : {}) },
      };
    }
  }
}

class Run {
  readonly model = new ResourceModel();
  readonly #owner: Client;
  readonly #workspaceId: string;
  readonly #creates: Extract<ModelCommand, { op: "create" }>[] = [];

  constructor(owner: Client, workspaceId: string) {
    this.#owner = owner;
    this.#workspaceId = workspaceId;
  }

  async take(given: ModelCommand): Promise<void> {
    if (given.op === "create") {
      this.#creates.push(given);
      return this.#create(given);
    }
    if (given.op === "repeat") {
      const earlier = this.#creates[given.of % this.#creates.length];
      return earlier === undefined ? undefined : this.#create(earlier);
    }
    if (given.op === "list") return this.#list(given.kind);
    const resource = this.model.pick(given.of);
    if (resource === undefined) return;
    switch (given.op) {
      case "read":
        return void check(await this.#owner.request("GET", readPath(resource)), this.model.read(resource));
      case "import":
        return this.#import(resource);
      case "update":
        return this.#update(resource, given);
      case "delete": {
        const expected = this.model.delete(resource, given.ifMatch);
        check(
          await this.#owner.request("DELETE", readPath(resource), undefined, headers(resource, given.ifMatch)),
          expected,
        );
        if (expected.status === 204) resource.isThere = false;
      }
    }
  }

  async #create(given: Extract<ModelCommand, { op: "create" }>): Promise<void> {
    const isHeld = given.kind === "line" || given.kind === "hook";
    const team = isHeld ? this.model.team(given.team) : null;
    if (team === undefined) return;
    const wanted = { kind: given.kind, team, body: given.body };
    const holder = team === null ? `workspaces/${this.#workspaceId}` : `teams/${team.id}`;
    const path = `${base}/${holder}/${plurals[given.kind]}`;
    const expected = this.model.create(wanted, given.idempotency);
    const answer = await createUnder(
      this.#owner,
      path,
      readBody(given.kind, given.body, null),
      `k-${given.idempotency}`,
    );
    const isNew = expected.status === 201 && expected.resource === undefined;
    const made = isNew ? this.model.created(wanted, given.idempotency, String(answer.body?.id)) : expected.resource;
    check(answer, made === undefined ? expected : { ...expected, resource: made });
  }

  async #update(resource: ModelResource, given: Extract<ModelCommand, { op: "update" }>): Promise<void> {
    const changed = given.renames ? given.body : { ...given.body, key: resource.key };
    const expected = this.model.update(resource, changed, given.ifMatch);
    const sent = readBody(resource.kind, changed, resource.body);
    const answer = await this.#owner.request("PUT", readPath(resource), sent, headers(resource, given.ifMatch));
    if (expected.status === 200) {
      // An update that repeats the stored fields is no change. But an update of a secret is always a change if it
      // contains a value.
      const kept = resource.kind === "secret" ? { ...resource.body, flag: false } : resource.body;
      const before = readBody(resource.kind, kept, resource.body);
      if (!isDeepStrictEqual(sent, before)) resource.version += 1;
      resource.body = changed;
    }
    check(answer, expected.status === 200 ? { ...expected, resource } : expected);
  }

  async #import(resource: ModelResource): Promise<void> {
    const path = `${base}/workspaces/${this.#workspaceId}/${plurals[resource.kind]}/import`;
    const answer = await this.#owner.request("GET", `${path}?address=${encodeURIComponent(resource.address)}`);
    const there = this.model.there(resource.kind).find(({ address }) => address === resource.address);
    check(answer, there === undefined ? { status: 404, slug: "not-found" } : { status: 200, resource: there });
  }

  async #list(of: ModelKind): Promise<void> {
    const answer = await this.#owner.request("GET", `${base}/workspaces/${this.#workspaceId}/${plurals[of]}`);
    const { items } = answer.body as { items: { address: string }[] };
    const addresses = items.map(({ address }) => address);
    if (JSON.stringify(addresses) !== JSON.stringify(this.model.listed(of))) {
      throw new Error(`the list of every ${of} is ${addresses}, not ${this.model.listed(of)}`);
    }
  }
}

function readPath({ kind: of, id }: ModelResource): string {
  return `${base}/${plurals[of]}/${id}`;
}

function headers({ version }: ModelResource, given: IfMatch): Record<string, string> {
  if (given === "absent") return {};
  if (given === "weak") return { "if-match": `W/"${version}"` };
  return { "if-match": `"${given === "current" ? version : version + 1}"` };
}

/** The kinds of answers in all runs so far. At the end, the test checks that all usual kinds occurred. */
const met = new Set<string>();

/** Compares an answer with the model's prediction. */
function check(answer: Reply, { status, slug, path, replayed, resource }: Expected): void {
  met.add(`${answer.status} ${slug ?? (replayed === true ? "replayed" : "")}`.trim());
  const found: Record<string, unknown> = { status: answer.status };
  const wanted: Record<string, unknown> = { status };
  if (slug !== undefined) Object.assign(found, { slug: toSlug(answer) }) && Object.assign(wanted, { slug });
  if (path !== undefined) {
    Object.assign(found, { path: toProblem(answer).errors?.[0]?.path });
    Object.assign(wanted, { path });
  }
  if (resource !== undefined) {
    const { id, version, address } = answer.body ?? {};
    Object.assign(found, { id, version, address, etag: answer.headers.etag });
    Object.assign(wanted, {
      id: resource.id,
      version: resource.version,
      address: resource.address,
      etag: `"${resource.version}"`,
    });
    Object.assign(found, { replayed: answer.headers["idempotent-replayed"] === "true" });
    Object.assign(wanted, { replayed: replayed === true });
  }
  if (JSON.stringify(found) === JSON.stringify(wanted)) return;
  throw new Error(`expected ${JSON.stringify(wanted)}, came ${JSON.stringify(found)}: ${answer.text}`);
}

t.test("any run of the six operations answers as the model says: statuses, versions, addresses, lists", async (t) => {
  const service = await startTestService(t, { settings: { OUTBOUND_ALLOW: "hooks.example.com" } });
  const owner = await service.signIn("owner@example.com");
  let runs = 0;
  let commands = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 20, maxLength: 60 }), async (given) => {
      runs += 1;
      const { id } = await owner.create(`${base}/workspaces`, { slug: `run-${runs}`, name: "Run" });
      const run = new Run(owner, id);
      await run.take({
        op: "create",
        kind: "team",
        team: 0,
        idempotency: 0,
        body: { key: 0, variant: 1, flag: false, line: 0 },
      });
      for (const each of given) await run.take(each);
      for (const of of modelKinds) await run.take({ op: "list", kind: of });
      commands += given.length;
    }),
    { numRuns: 50 },
  );
  const usual = [
    ...["200", "201", "201 replayed", "204", "400 malformed-if-match", "404 not-found", "409 already-exists"],
    ...["409 in-use", "409 moved-on", "422 idempotency-key-reused", "422 invalid", "428 precondition-required"],
  ];
  t.same(
    usual.filter((each) => !met.has(each)),
    [],
    "every usual outcome was met",
  );
  t.ok(commands >= 1_000, `${commands} commands in ${runs} runs`);
});

/** The kinds that the model of a workspace's configuration covers. */

export const modelKinds = ["team", "secret", "line", "hook"] as const;
export type ModelKind = (typeof modelKinds)[number];

/** A request body, reduced to the fields that the model distinguishes. */
export interface ModelBody {
  readonly key: number;
  /** For a secret, its value version; for other kinds, a value that distinguishes bodies. */
  readonly variant: number;
  /** For a secret, whether it has a value; for a hook, whether it references `line`. */
  readonly flag: boolean;
  /** For a hook, the referenced line. */
  readonly line: number;
}

export type IfMatch = "current" | "stale" | "absent" | "weak";

export type ModelCommand =
  | {
      readonly op: "create";
      readonly kind: ModelKind;
      readonly team: number;
      readonly body: ModelBody;
      readonly idempotency: number;
    }
  /** Repeats an earlier create with its idempotency key. */
  | { readonly op: "repeat"; readonly of: number }
  | { readonly op: "read" | "import"; readonly of: number }
  | {
      readonly op: "update";
      readonly of: number;
      readonly body: ModelBody;
      readonly ifMatch: IfMatch;
      readonly renames: boolean;
    }
  | { readonly op: "delete"; readonly of: number; readonly ifMatch: IfMatch }
  | { readonly op: "list"; readonly kind: ModelKind };

/** A resource created in this run of the model, deleted or not. */
export interface ModelResource {
  readonly kind: ModelKind;
  readonly id: string;
  readonly address: string;
  readonly key: number;
  /** Null for kinds that do not belong to a team. */
  readonly team: ModelResource | null;
  version: number;
  body: ModelBody;
  isThere: boolean;
}

/**
 * The expected answer to an operation: the status. For a problem, also the problem's slug and the path of its first
 * error.
 */
export interface Expected {
  readonly status: number;
  readonly slug?: string;
  readonly path?: string;
  readonly replayed?: true;
  readonly resource?: ModelResource;
}

/** A requested create. The address of the new resource follows from these fields. */
export interface Wanted {
  readonly kind: ModelKind;
  readonly team: ModelResource | null;
  readonly body: ModelBody;
}

const keyNames: Readonly<Record<ModelKind, string>> = { team: "key", secret: "name", line: "key", hook: "key" };

/** A model of one workspace: its expected contents, and the expected answer of each operation. */
export class ResourceModel {
  readonly made: ModelResource[] = [];
  readonly #attempts = new Map<string, { readonly body: string; readonly made: ModelResource }>();

  there(kind: ModelKind): ModelResource[] {
    return this.made.filter((each) => each.kind === kind && each.isThere);
  }

  /** Returns the resource at this index, modulo the number of resources; undefined if no resource was created. */
  pick(place: number): ModelResource | undefined {
    return this.made.length === 0 ? undefined : this.made[place % this.made.length];
  }

  team(place: number): ModelResource | undefined {
    const teams = this.made.filter(({ kind }) => kind === "team");
    return teams.length === 0 ? undefined : teams[place % teams.length];
  }

  toAddress({ kind, team, body }: Wanted): string {
    const key = `${kind}-${body.key}`;
    return team === null ? key : `${team.address}/${key}`;
  }

  create(wanted: Wanted, idempotency: number): Expected {
    const { kind, team, body } = wanted;
    if (team !== null && !team.isThere) return { status: 404, slug: "not-found" };
    const earlier = this.#attempts.get(attemptKey(wanted, idempotency));
    if (earlier !== undefined) {
      if (earlier.body !== JSON.stringify(body)) return { status: 422, slug: "idempotency-key-reused" };
      if (!earlier.made.isThere) return { status: 409, slug: "conflict" };
      return { status: 201, replayed: true, resource: earlier.made };
    }
    const wrong = this.#wrong(wanted, null);
    if (wrong !== null) return { status: 422, slug: "invalid", path: wrong };
    const address = this.toAddress(wanted);
    const isTaken = this.there(kind).some((each) => each.address === address);
    return isTaken ? { status: 409, slug: "already-exists" } : { status: 201 };
  }

  created(wanted: Wanted, idempotency: number, id: string): ModelResource {
    const { kind, team, body } = wanted;
    const made = { kind, id, address: this.toAddress(wanted), key: body.key, team, version: 1, body, isThere: true };
    this.made.push(made);
    this.#attempts.set(attemptKey(wanted, idempotency), { body: JSON.stringify(body), made });
    return made;
  }

  read(resource: ModelResource): Expected {
    return resource.isThere ? { status: 200, resource } : { status: 404, slug: "not-found" };
  }

  update(resource: ModelResource, body: ModelBody, ifMatch: IfMatch): Expected {
    const refused = this.#refused(resource, ifMatch);
    if (refused !== null) return refused;
    if (body.key !== resource.key) return { status: 422, slug: "invalid", path: keyNames[resource.kind] };
    const wrong = this.#wrong({ ...resource, body }, resource);
    return wrong === null ? { status: 200 } : { status: 422, slug: "invalid", path: wrong };
  }

  delete(resource: ModelResource, ifMatch: IfMatch): Expected {
    const refused = this.#refused(resource, ifMatch);
    if (refused !== null) return refused;
    return this.#isUsed(resource) ? { status: 409, slug: "in-use" } : { status: 204 };
  }

  /** Returns the addresses of a list's items, in order. */
  listed(kind: ModelKind): string[] {
    return this.there(kind)
      .map(({ address }) => address)
      .sort();
  }

  #refused(resource: ModelResource, ifMatch: IfMatch): Expected | null {
    if (!resource.isThere) return { status: 404, slug: "not-found" };
    if (ifMatch === "absent") return { status: 428, slug: "precondition-required" };
    if (ifMatch === "weak") return { status: 400, slug: "malformed-if-match" };
    return ifMatch === "stale" ? { status: 409, slug: "moved-on" } : null;
  }

  #wrong({ kind, team, body }: Wanted, previous: ModelResource | null): string | null {
    if (kind === "secret") {
      const isNew = previous === null || previous.body.variant !== body.variant;
      if (isNew && !body.flag) return "value";
      return !isNew && body.flag ? "valueVersion" : null;
    }
    if (kind !== "hook" || !body.flag) return null;
    const line = this.toAddress({ kind: "line", team, body: { ...body, key: body.line } });
    return this.there("line").some(({ address }) => address === line) ? null : "match.lines[0]";
  }

  #isUsed(resource: ModelResource): boolean {
    return this.made.some((each) => {
      if (!each.isThere) return false;
      if (resource.kind === "team") return each.team === resource;
      const names = each.kind === "hook" && each.body.flag && each.team === resource.team;
      return resource.kind === "line" && names && each.body.line === resource.key;
    });
  }
}

function attemptKey({ kind, team }: Wanted, idempotency: number): string {
  return `${kind} ${team?.id ?? ""} ${idempotency}`;
}

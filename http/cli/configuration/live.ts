import { z } from "zod";
import { readJson, writeJson } from "../../../actors/exact-json.js";
import { toProperties, toShape } from "../../../actors/export/attributes.js";
import type { Kind } from "../../../actors/resources/kind.js";
import type { Client, Received } from "../../client/entry.js";
import { exportedKinds } from "./hcl-module.js";

/** A resource of the service. */
export interface LiveResource {
  readonly kind: Kind;
  readonly id: string;
  readonly version: number;
  readonly address: string;
  /** Null for a resource that no team holds. */
  readonly teamId: string | null;
  /** The fields of its body, without hidden and read-only ones. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Settings that the service accepts but cannot honour. */
  readonly warnings: readonly { readonly path: string; readonly message: string }[];
}

/** The workspace that a folder describes. */
export interface TargetWorkspace {
  readonly slug: string;
  /** Null if it does not exist yet. */
  readonly id: string | null;
}

/** A change, in the form that the dry-run endpoint accepts. */
export interface DryRunChange {
  readonly action: "create" | "update" | "delete";
  readonly kind: string;
  readonly id: string;
  readonly teamId?: string | null;
  readonly version?: number;
  readonly body?: unknown;
}

const refusalsSchema = z.object({
  refusals: z.array(
    z.object({
      change: z.int(),
      detail: z.string(),
      errors: z.array(z.object({ path: z.string(), message: z.string() })),
    }),
  ),
});

/** A change that the service would refuse: its index, and the problem. */
export type StepProblem = z.output<typeof refusalsSchema>["refusals"][number];

/**
 * Calls the resource API. Kinds are data here, so the calls are not typed. Bodies keep whole numbers of any size.
 */
export class ResourceApi {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Reads all resources of the exported kinds, sorted by kind, then by address. */
  async list(workspaceId: string): Promise<readonly LiveResource[]> {
    const found: LiveResource[] = [];
    for (const kind of exportedKinds) {
      if (kind.heldBy === "none") {
        found.push(toLive(kind, await this.#client.send("get", `/api/resources/${kind.plural}/${workspaceId}`)));
        continue;
      }
      const { text } = await this.#client.send("get", `/api/resources/workspaces/${workspaceId}/${kind.plural}`);
      const { items } = readJson(text) as { readonly items: readonly Representation[] };
      found.push(...items.map((item) => liveFrom(kind, item)));
    }
    return found;
  }

  /** Creates a resource. `holder` is the id of its workspace or team; "" for a workspace. */
  async create(kind: Kind, holder: string, body: unknown): Promise<LiveResource> {
    const held = { none: "", workspace: `/workspaces/${holder}`, team: `/teams/${holder}`, station: "" }[kind.heldBy];
    return toLive(kind, await this.#client.send("post", `/api/resources${held}/${kind.plural}`, toJsonBody(body)));
  }

  async replace({ kind, id, version }: LiveResource, body: unknown): Promise<LiveResource> {
    const call = { ...toJsonBody(body), version };
    return toLive(kind, await this.#client.send("put", `/api/resources/${kind.plural}/${id}`, call));
  }

  /** Returns the changes that the service would refuse. Changes nothing. `workspaceId` is null for a new workspace. */
  async dryRun(workspaceId: string | null, changes: readonly DryRunChange[]): Promise<readonly StepProblem[]> {
    const { text } = await this.#client.send("post", "/api/resources/dry-run", toJsonBody({ workspaceId, changes }));
    return refusalsSchema.parse(readJson(text)).refusals;
  }

  async delete({ kind, id, version }: LiveResource): Promise<void> {
    await this.#client.send("delete", `/api/resources/${kind.plural}/${id}`, { version });
  }
}

function toJsonBody(body: unknown) {
  return { body: writeJson(body), headers: { "content-type": "application/json" } };
}

const warningsSchema = z.array(z.object({ path: z.string(), message: z.string() })).catch([]);

type Representation = Readonly<Record<string, unknown>>;

function toLive(kind: Kind, { text }: Received): LiveResource {
  return liveFrom(kind, readJson(text) as Representation);
}

function liveFrom(kind: Kind, item: Representation): LiveResource {
  const { id, version, address, teamId, warnings } = item;
  const known = toProperties(toShape(kind.schema));
  return {
    kind,
    id: String(id),
    version: Number(version),
    address: String(address),
    teamId: typeof teamId === "string" ? teamId : null,
    fields: Object.fromEntries(Object.entries(item).filter(([name]) => known.has(name))),
    warnings: warningsSchema.parse(warnings),
  };
}

import type { Scope } from "../../actors/caller.js";
import type { Client, Reply, TestService } from "./service.js";

/** The fields of a problem that tests read. */
export interface Problem {
  readonly type?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly currentVersion?: number;
  readonly permission?: string;
}

/** Returns the body of a problem answer. */
export function toProblem(reply: Reply): Problem {
  return reply.body ?? {};
}

/** Returns the items of a list answer. */
export function listItems({ body }: Reply): readonly Readonly<Record<string, unknown>>[] {
  return (body?.items ?? []) as readonly Readonly<Record<string, unknown>>[];
}

/** Returns the slug of a problem's type. */
export function toSlug(reply: Reply): string {
  return toProblem(reply).type?.replace("urn:service:problem:", "") ?? "";
}

/** Creates a resource under a given idempotency key. */
export function createUnder(client: Client, path: string, body: unknown, key: string): Promise<Reply> {
  return client.request("POST", path, body, { "idempotency-key": key });
}

/** Updates a resource at this version. */
export function replace(client: Client, path: string, version: number, body: unknown): Promise<Reply> {
  return client.request("PUT", path, body, { "if-match": `"${version}"` });
}

/** Deletes a resource at this version. */
export function remove(client: Client, path: string, version: number): Promise<Reply> {
  return client.request("DELETE", path, undefined, { "if-match": `"${version}"` });
}

/** Creates a workspace with a team, owned by the client. */
export async function workspaceWithTeam(
  owner: Client,
  slug = "acme",
): Promise<{ workspaceId: string; teamId: string }> {
  const { id: workspaceId } = await owner.create("/api/resources/workspaces", { slug, name: "Acme" });
  const team = await owner.create(`/api/resources/workspaces/${workspaceId}/teams`, { key: "core", name: "Core" });
  return { workspaceId, teamId: team.id };
}

/** Creates a workspace token; returns a client that uses this token. */
export async function bearer(
  service: TestService,
  owner: Client,
  of: {
    readonly workspaceId: string;
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly expiresAt?: string;
  },
): Promise<Client & { readonly tokenId: string }> {
  const { workspaceId, ...body } = of;
  const made = await createUnder(owner, `/api/resources/workspaces/${workspaceId}/tokens`, body, `token-${of.name}`);
  const value = made.headers["service-workspace-token"];
  if (value === undefined) throw new Error(`no token was issued: ${made.text}`);
  return { ...service.withToken(value), tokenId: String(made.body?.id) };
}

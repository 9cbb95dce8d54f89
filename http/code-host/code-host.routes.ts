import { z } from "zod";
import { permit } from "../../actors/access/visibility.js";
import type { Caller, PersonCaller } from "../../actors/caller.js";
import { codeHostConnectionRef, type DisconnectInstallation } from "../../actors/code-host/connection.messages.js";
import { type CodeHostConnection, listCodeHostConnections } from "../../actors/code-host/connection.table.js";
import { codeHostConnectionSchema, codeHostConnectionView } from "../../actors/code-host/connection.view.js";
import { notAWorkspaceAdministrator, notSetUp } from "../../actors/code-host/refusals.js";
import { type CodeHost, REPOSITORIES_ON_PAGE } from "../../actors/outbound/code-host.js";
import { CodeHostRefused } from "../../actors/outbound/code-host-requests.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { findWorkspaceBySlug } from "../../actors/workspaces/slug-claims.machine.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { RateLimit } from "../limits/rate-limit.js";
import { wholeNumber } from "../paging.js";
import { type Answer, type Route, route } from "../route.js";

export interface CodeHostRoutesOptions {
  readonly runtime: Runtime;
  /** Null when none is set up. */
  readonly codeHost: CodeHost | null;
  /** How often a person or token may have the code host asked: it bounds what this service asks of it altogether. */
  readonly asking: RateLimit;
}

const repositorySchema = z
  .strictObject({ name: z.string().describe("owner/name"), isPrivate: z.boolean(), defaultBranch: z.string() })
  .meta({ title: "hosted-repository" });

/** The installations of the code host that a workspace is connected to. */
export function codeHostRoutes(options: CodeHostRoutesOptions): readonly Route[] {
  const { runtime, codeHost } = options;
  return [
    route({
      method: "GET",
      path: "/api/workspaces/{slug}/code-host",
      operation: "readCodeHost",
      summary: "The code host, and the installations there that the workspace is connected to",
      access: "any",
      answers: {
        200: z.strictObject({
          host: z.string().nullable().describe("Null when this deployment has no code host."),
          connections: z.array(codeHostConnectionSchema),
        }),
      },
      handle: ({ caller, params }) => {
        const workspaceId = findWorkspaceBySlug(runtime.reading, params.slug ?? "") ?? "";
        const refused = permit(runtime.reading, caller, workspaceId, "read", "workspace");
        if (refused !== null) return refused;
        const connections = listCodeHostConnections(runtime.reading, workspaceId).map(codeHostConnectionView);
        return { status: 200, body: { host: codeHost?.name ?? null, connections } };
      },
    }),
    route({
      method: "DELETE",
      path: "/api/workspaces/{slug}/code-host/connections/{installationId}",
      operation: "disconnectCodeHost",
      summary: "Disconnect an installation, which another workspace may connect then",
      access: "any",
      answers: { 204: null },
      handle: ({ caller, params }) => disconnect(options, caller, params),
    }),
    route({
      method: "GET",
      path: "/api/workspaces/{slug}/code-host/connections/{installationId}/repositories",
      operation: "listHostedRepositories",
      summary: "The repositories that an installation reaches, as the code host tells them now",
      description: "For those who may configure the workspace; for anyone else it is not there.",
      access: "any",
      query: z.strictObject({ page: wholeNumber.max(10_000, "must be at most 10000").default(1) }),
      answers: {
        200: z.strictObject({
          items: z.array(repositorySchema),
          next: z.int().nullable().describe("The `page` of the next page."),
        }),
      },
      problems: ["conflict", "refused-upstream"],
      handle: ({ caller, params, query }) => repositories(options, caller, params, query.page),
    }),
  ];
}

/** The workspace and the person, when they administer it; refusals name the code host. */
export function administeredBy(
  { runtime, codeHost }: Pick<CodeHostRoutesOptions, "runtime" | "codeHost">,
  caller: Caller,
  slug = "",
): { readonly workspaceId: string; readonly caller: PersonCaller } | Refusal {
  const workspaceId = findWorkspaceBySlug(runtime.reading, slug) ?? "";
  const refused = permit(runtime.reading, caller, workspaceId, "administer", "workspace");
  if (refused === null && caller.kind === "person") return { workspaceId, caller };
  return refused?.refused === "not-found" ? refused : notAWorkspaceAdministrator(codeHost?.name ?? "the code host");
}

async function disconnect(
  options: CodeHostRoutesOptions,
  caller: Caller,
  { slug, installationId }: Readonly<Record<string, string>>,
): Promise<Answer | Refusal> {
  const place = administeredBy(options, caller, slug);
  if (isRefusal(place)) return place;
  const { runtime } = options;
  const connection = connectionAt(options, place.workspaceId, installationId);
  if (connection === undefined) return { refused: "not-found" };
  const message: DisconnectInstallation = { type: "installation.disconnect", by: place.caller.userId };
  const refused = await runtime.ask(codeHostConnectionRef(place.workspaceId, connection), message);
  return isRefusal(refused) ? refused : { status: 204 };
}

/** Counts a request that has the code host asked. */
export function askedTooOften(asking: RateLimit, caller: Caller): Refusal | null {
  const retryAfterSeconds = asking.take(caller.kind === "person" ? caller.userId : caller.tokenId);
  if (retryAfterSeconds === 0) return null;
  return { refused: "too-many-requests", detail: "You have the code host asked too often.", retryAfterSeconds };
}

async function repositories(
  options: CodeHostRoutesOptions,
  caller: Caller,
  { slug = "", installationId }: Readonly<Record<string, string>>,
  page: number,
): Promise<Answer | Refusal> {
  const { runtime, codeHost, asking } = options;
  const workspaceId = findWorkspaceBySlug(runtime.reading, slug) ?? "";
  if (permit(runtime.reading, caller, workspaceId, "configure", "workspace") !== null) return { refused: "not-found" };
  const connection = connectionAt(options, workspaceId, installationId);
  if (connection === undefined) return { refused: "not-found" };
  const { host, state } = connection;
  if (codeHost === null) return notSetUp;
  if (codeHost.name !== host) {
    return {
      refused: "conflict",
      detail: `${host} is not the code host that is set up here: that is ${codeHost.name}.`,
    };
  }
  if (state !== "connected") return { refused: "conflict", detail: `This installation is ${state} on ${host}.` };
  const tooOften = askedTooOften(asking, caller);
  if (tooOften !== null) return tooOften;
  try {
    const { items, total } = await codeHost.repositories(connection.installationId, page);
    const next = page * REPOSITORIES_ON_PAGE < total ? page + 1 : null;
    return { status: 200, body: { items, next } };
  } catch (error) {
    if (error instanceof CodeHostRefused) return { refused: "refused-upstream", detail: error.message };
    throw error;
  }
}

/** The connection of that number; the one to the code host that is set up, where a workspace has two. */
function connectionAt(
  { runtime, codeHost }: CodeHostRoutesOptions,
  workspaceId: string,
  number = "",
): CodeHostConnection | undefined {
  const found = listCodeHostConnections(runtime.reading, workspaceId).filter(
    (one) => String(one.installationId) === number,
  );
  return found.find(({ host }) => host === codeHost?.name) ?? found[0];
}

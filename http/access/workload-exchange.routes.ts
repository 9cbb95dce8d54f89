import { z } from "zod";
import { tokenMinting } from "../../actors/access/token-exchange.js";
import { listLatestRefusals } from "../../actors/access/trust-refusal.table.js";
import { permit } from "../../actors/access/visibility.js";
import type { TokenTrustFields } from "../../actors/access/workspace-token-trust.kind.js";
import { isRefusal } from "../../actors/refusal.js";
import type { Kind } from "../../actors/resources/kind.js";
import { locate } from "../../actors/resources/resource-location.table.js";
import { poolMinting } from "../../actors/runners/pool-exchange.js";
import type { RunnerTrustFields } from "../../actors/runners/runner-trust.kind.js";
import type { Runtime } from "../../runtime/runtime.js";
import { type Route, route } from "../route.js";
import { exchangeBody, exchangeWorkloadToken, type WorkloadExchangeOptions } from "./workload-exchange.js";

/** The exchange of the OIDC tokens of workloads and hosts for credentials of ours, and what the trusts refused. */
export function workloadExchangeRoutes(
  options: WorkloadExchangeOptions & { readonly kinds: readonly Kind[] },
): readonly Route[] {
  const names = [tokenMinting.trustKind, poolMinting.trustKind];
  const trustKinds = options.kinds.filter(({ name }) => names.includes(name));
  return [
    tokenExchange(options),
    poolExchange(options),
    ...trustKinds.map((kind) => refusalsOf(kind, options.runtime)),
  ];
}

function tokenExchange(options: WorkloadExchangeOptions): Route {
  return route({
    method: "POST",
    path: "/api/workspace-tokens/exchange",
    summary: "Exchange a workload's OIDC token for a workspace token",
    description:
      "Needs no credential. The token is verified against the keys that its issuer publishes. Every refusal is the " +
      "same 401; those who may manage the trust read why under its refusals.",
    access: "public",
    body: exchangeBody,
    problems: ["unauthenticated"],
    answers: {
      200: z.strictObject({
        token: z.string().describe("The workspace token, sent as a bearer. Not shown again."),
        tokenId: z.string(),
        workspaceId: z.string(),
        scopes: z.array(z.string()).describe("Those of the trust."),
        expiresAt: z.iso.datetime().describe("When it stops admitting its bearer."),
      }),
    },
    handle: async ({ body, client }) => {
      const done = await exchangeWorkloadToken<TokenTrustFields>(
        options,
        { ...body, client },
        { minting: tokenMinting, count: () => 1 },
      );
      if (isRefusal(done)) return done;
      const { trust, credentials, expiresAt } = done;
      const [minted] = credentials;
      const { workspaceId, fields } = trust;
      return {
        status: 200,
        body: { token: minted?.value, tokenId: minted?.id, workspaceId, scopes: fields.scopes, expiresAt },
      };
    },
  });
}

function poolExchange(options: WorkloadExchangeOptions): Route {
  return route({
    method: "POST",
    path: "/api/runner-trusts/exchange",
    summary: "Exchange a host's OIDC token for admission to runner pools",
    description:
      "Needs no credential. The token is verified as a workload's is. Gives a token for each pool of the trust, which a " +
      "runner connects with as with the pool's own; when it ends, so does the connection, and the host exchanges anew. " +
      "Every refusal is the same 401; those who may manage the trust read why under its refusals.",
    access: "public",
    body: exchangeBody,
    problems: ["unauthenticated"],
    answers: {
      200: z.strictObject({
        workspaceId: z.string(),
        pools: z.array(
          z.strictObject({
            pool: z.string().describe("The pool's key."),
            token: z.string().describe("Admits runners to the pool. Not shown again."),
          }),
        ),
        expiresAt: z.iso.datetime().describe("When the tokens stop admitting."),
      }),
    },
    handle: async ({ body, client }) => {
      const done = await exchangeWorkloadToken<RunnerTrustFields>(
        options,
        { ...body, client },
        { minting: poolMinting, count: ({ pools }) => pools.length },
      );
      if (isRefusal(done)) return done;
      const { trust, credentials, expiresAt } = done;
      const pools = trust.fields.pools.map((pool, index) => ({ pool, token: credentials[index]?.value }));
      return { status: 200, body: { workspaceId: trust.workspaceId, pools, expiresAt } };
    },
  });
}

const refusalSchema = z
  .strictObject({
    at: z.iso.datetime().describe("When it came last."),
    times: z.int().describe("How often the same came since it was first seen."),
    check: z.string().describe("What was looked at: `iss`, `aud`, `sub`, `exp`, `claims.<name>`, `signature`, `keys`."),
    wanted: z.string(),
    came: z.string(),
    verified: z.boolean().describe("Whether the issuer signed what came; else it may be anyone's words."),
  })
  .meta({ title: "trust-refusal" });

function refusalsOf(kind: Kind, { reading }: Runtime): Route {
  return route({
    method: "GET",
    path: `/api/resources/${kind.plural}/{id}/refusals`,
    summary: `Why a ${kind.name} refused its latest exchanges, newest first`,
    description: `Needs ${kind.permission}. The latest 20, each for a week; the same refusal again is counted.`,
    access: "any",
    problems: ["forbidden"],
    answers: { 200: z.strictObject({ items: z.array(refusalSchema) }) },
    handle: ({ caller, params }) => {
      const id = params.id ?? "";
      const place = locate(reading, id);
      if (place === undefined || place.kind !== kind.name) return { refused: "not-found" };
      const refused = permit(reading, caller, place.workspaceId, kind.permission, kind.name);
      if (refused !== null) return refused;
      return { status: 200, body: { items: listLatestRefusals(reading, place.workspaceId, id) } };
    },
  });
}

import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { tokenMinting } from "../../actors/access/tokens/token-exchange.js";
import { exchangeWorkloadToken, type WorkloadExchangeOptions } from "../../actors/access/tokens/workload-exchange.js";
import type { TokenTrustFields } from "../../actors/access/tokens/workspace-token-trust.kind.js";
import { findManagedTrust, listLatestRefusals, type ManagedTrust } from "../../actors/access/trusts/trust.queries.js";
import type { Kind } from "../../actors/resources/kind.js";
import { poolMinting } from "../../actors/runners/pool-exchange.js";
import type { RunnerTrustFields } from "../../actors/runners/runner-trust.kind.js";
import type { Runtime } from "../../runtime/runtime.js";
import { Refused } from "../wire/refused.js";
import { type Route, route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";

export interface WorkloadExchangeRoutesOptions extends WorkloadExchangeOptions {
  readonly runtime: Runtime;
  readonly kinds: readonly Kind[];
}

/** The request body of both exchanges. */
const exchangeBody = z.strictObject({
  trust: z.string().describe("The trust's id."),
  token: z.string().describe("The OIDC token that the platform issued."),
});

/** Minimum time until a refusal, in milliseconds, so that its timing reveals little about the cause. */
const REFUSED_AFTER_MS = 100;

/**
 * The routes that exchange OIDC tokens of workloads and hosts for credentials of this service, and that list the latest
 * refusals of each trust.
 */
export function workloadExchangeRoutes(options: WorkloadExchangeRoutesOptions): readonly Route[] {
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
      const { trust, credentials, expiresAt } = await exchanged(
        exchangeWorkloadToken<TokenTrustFields>(
          options,
          { ...body, client },
          { minting: tokenMinting, count: () => 1 },
        ),
      );
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
      const { trust, credentials, expiresAt } = await exchanged(
        exchangeWorkloadToken<RunnerTrustFields>(
          options,
          { ...body, client },
          { minting: poolMinting, count: ({ pools }) => pools.length },
        ),
      );
      const pools = trust.fields.pools.map((pool, index) => ({ pool, token: credentials[index]?.value }));
      return { status: 200, body: { workspaceId: trust.workspaceId, pools, expiresAt } };
    },
  });
}

/**
 * Returns the result of an exchange. Throws the same refusal for every cause, not earlier than {@link
 * REFUSED_AFTER_MS}.
 */
async function exchanged<Exchanged>(exchange: Promise<Exchanged | null>): Promise<Exchanged> {
  const begun = performance.now();
  const given = await exchange;
  if (given !== null) return given;
  await wait(Math.max(0, REFUSED_AFTER_MS - (performance.now() - begun)));
  throw new Refused({ refused: "unauthenticated", detail: "The exchange was refused." });
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
  const trust: Subject<ManagedTrust> = {
    find: ({ caller, params }) => findManagedTrust(reading, caller, kind, params.id ?? ""),
    problems: ["forbidden"],
  };
  return subjectRoute(trust, {
    method: "GET",
    path: `/api/resources/${kind.plural}/{id}/refusals`,
    summary: `Why a ${kind.name} refused its latest exchanges, newest first`,
    description: `Needs ${kind.permission}. The latest 20, each for a week; the same refusal again is counted.`,
    access: "any",
    answers: { 200: z.strictObject({ items: z.array(refusalSchema) }) },
    handle: (_request, found) => ({ status: 200, body: { items: listLatestRefusals(reading, found) } }),
  });
}

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
  trust: z.string().describe("Id of the trust that accepts the OIDC token."),
  token: z.string().describe("The OIDC token that the platform issued."),
});

/**
 * Minimum time between a request and its refusal, in milliseconds. So the response time reveals little about the cause
 * of the refusal.
 */
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
    ...trustKinds.map((kind) => toRefusals(kind, options.runtime)),
  ];
}

function tokenExchange(options: WorkloadExchangeOptions): Route {
  return route({
    method: "POST",
    path: "/api/workspace-tokens/exchange",
    summary: "Exchange a workload's OIDC token for a workspace token",
    description:
      "Requires no credential. The service verifies the token with the keys that its issuer publishes. Every " +
      "refusal is the same 401. People who may manage the trust can read the reason in the trust's refusals.",
    access: "public",
    body: exchangeBody,
    problems: ["unauthenticated"],
    answers: {
      200: z.strictObject({
        token: z.string().describe("The workspace token, to send as a bearer token. Returned once."),
        tokenId: z.string().describe("Id of the minted token, as in the change log."),
        workspaceId: z.string().describe("Id of the workspace that the token acts in."),
        scopes: z.array(z.string()).describe("The scopes of the trust."),
        expiresAt: z.iso.datetime().describe("The time when the token expires."),
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
    summary: "Exchange a host's OIDC token for runner pool tokens",
    description:
      "Requires no credential. The service verifies the token like a workload's token. It returns a token for " +
      "each pool of the trust; a runner connects with it as with a pool token. When the token expires, the " +
      "connection ends and the host exchanges its OIDC token again. Every refusal is the same 401. People who " +
      "may manage the trust can read the reason in the trust's refusals.",
    access: "public",
    body: exchangeBody,
    problems: ["unauthenticated"],
    answers: {
      200: z.strictObject({
        workspaceId: z.string().describe("Id of the workspace that the pools belong to."),
        pools: z
          .array(
            z.strictObject({
              pool: z.string().describe("Key of the runner pool."),
              token: z.string().describe("Connects runners to the pool. Returned once."),
            }),
          )
          .describe("One token for each pool of the trust."),
        expiresAt: z.iso.datetime().describe("The time when the tokens expire."),
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
 * Returns the result of an exchange. If the result is null, the exchange was refused: throws the same refusal for every
 * cause, at least {@link REFUSED_AFTER_MS} milliseconds after the call.
 */
async function exchanged<Exchanged>(exchange: Promise<Exchanged | null>): Promise<Exchanged> {
  const started = performance.now();
  const given = await exchange;
  if (given !== null) return given;
  await wait(Math.max(0, REFUSED_AFTER_MS - (performance.now() - started)));
  throw new Refused({ refused: "unauthenticated", detail: "The exchange was refused." });
}

const refusalSchema = z
  .strictObject({
    at: z.iso.datetime().describe("The time of the latest refusal."),
    times: z.int().describe("The number of identical refusals since the first."),
    check: z
      .string()
      .describe("The check that failed: `iss`, `aud`, `sub`, `exp`, `claims.<name>`, `signature` or `keys`."),
    wanted: z.string().describe("Value or pattern that the trust requires."),
    came: z.string().describe("Value that the refused OIDC token carried."),
    verified: z.boolean().describe("Whether the issuer signed the token. If false, anyone may have sent it."),
  })
  .meta({ title: "trust-refusal" });

function toRefusals(kind: Kind, { reading }: Runtime): Route {
  const trust: Subject<ManagedTrust> = {
    find: ({ caller, params }) => findManagedTrust(reading, caller, kind, params.id ?? ""),
    problems: ["forbidden"],
  };
  return subjectRoute(trust, {
    method: "GET",
    path: `/api/resources/${kind.plural}/{id}/refusals`,
    summary: `Read why a ${kind.name} refused its latest exchanges, newest first`,
    description:
      `Requires ${kind.permission}. Lists the latest 20 refusals, each for one week. Identical refusals are ` +
      "counted.",
    access: "any",
    answers: {
      200: z.strictObject({ items: z.array(refusalSchema).describe("The latest 20 refusals, newest first.") }),
    },
    handle: (_request, found) => ({ status: 200, body: { items: listLatestRefusals(reading, found) } }),
  });
}

import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import type { MintAnswer, MintCredentials, Minting, RefuseWorkload } from "../../actors/access/trust.machine.js";
import type { TrustTerms } from "../../actors/access/trust-terms.js";
import type { WorkloadFault, WorkloadVerifier } from "../../actors/access/workload-token.js";
import type { Refusal } from "../../actors/refusal.js";
import { findResource, type ResourceRow } from "../../actors/resources/resource.table.js";
import { locate } from "../../actors/resources/resource-location.table.js";
import { sha256Hex } from "../../actors/workspaces/secret-value.js";
import { address } from "../../runtime/address.js";
import type { Runtime, RuntimeLog } from "../../runtime/runtime.js";

export interface WorkloadExchangeOptions {
  readonly runtime: Runtime;
  readonly verifier: WorkloadVerifier;
  /** Told why an exchange was refused, which its caller is not. */
  readonly log: RuntimeLog;
}

/** What both exchanges take. */
export const exchangeBody = z.strictObject({
  trust: z.string().describe("The trust's id."),
  token: z.string().describe("The OIDC token that the platform issued."),
});

/** A request for credentials. */
export interface ExchangeRequest {
  readonly trust: string;
  readonly token: string;
  readonly client: string | null;
}

/** Credentials and the trust they were minted through. */
export interface Exchanged<Fields> {
  readonly trust: ResourceRow<Fields>;
  /** In the order of their values. */
  readonly credentials: readonly { readonly id: string; readonly value: string }[];
  readonly expiresAt: string;
}

/** Every refusal is this one, whatever its cause. */
const REFUSED: Refusal = { refused: "unauthenticated", detail: "The exchange was refused." };
/** No refusal is told sooner than this, in milliseconds, so that how long it took tells little of its cause. */
const REFUSED_AFTER_MS = 100;
const TRUST_ID = /^r?trust_[0-9A-HJKMNP-TV-Z]{26}$/;

/**
 * Exchanges the OIDC token of a workload or host for `count` credentials: it is verified here, outside any turn, and
 * the trust's actor mints if the trust is still as it was verified under.
 */
export async function exchangeWorkloadToken<Fields extends TrustTerms>(
  options: WorkloadExchangeOptions,
  request: ExchangeRequest,
  of: { readonly minting: Minting; readonly count: (fields: Fields) => number },
): Promise<Exchanged<Fields> | Refusal> {
  const begun = performance.now();
  const trust = trustOf<Fields>(options.runtime, of.minting, request.trust);
  const exchanged = trust === null ? await unknownTrust(options, request) : await mint(options, trust, request, of);
  if (exchanged !== null) return exchanged;
  await wait(Math.max(0, REFUSED_AFTER_MS - (performance.now() - begun)));
  return REFUSED;
}

async function mint<Fields extends TrustTerms>(
  options: WorkloadExchangeOptions,
  trust: ResourceRow<Fields>,
  { token, client }: ExchangeRequest,
  { minting, count }: { readonly minting: Minting; readonly count: (fields: Fields) => number },
): Promise<Exchanged<Fields> | null> {
  const { runtime, verifier } = options;
  const actor = address(trust.workspaceId, minting.actor, trust.id);
  const verdict = await verifier.verify(token, trust.fields);
  if (!verdict.admits) return refuse(options, trust, minting, verdict);
  const values = Array.from({ length: count(trust.fields) }, () =>
    Buffer.from(runtime.randomBytes(32)).toString("base64url"),
  );
  const message: MintCredentials = {
    type: "trust.mint",
    trustVersion: trust.version,
    subject: verdict.subject,
    hashes: values.map(sha256Hex),
    client,
  };
  const answer = (await runtime.ask(actor, message)) as MintAnswer;
  if (!answer.minted) return refuse(options, trust, minting, answer);
  const credentials = values.map((value, index) => ({ id: answer.ids[index] ?? "", value }));
  return { trust, credentials, expiresAt: new Date(answer.expiresAtMs).toISOString() };
}

/** The trust of that id, while its workspace is open. */
function trustOf<Fields>({ reading }: Runtime, { trustKind }: Minting, id: string): ResourceRow<Fields> | null {
  const place = TRUST_ID.test(id) ? locate(reading, id) : undefined;
  if (place === undefined || place.kind !== trustKind) return null;
  const isOpen = findResource(reading, place.workspaceId, "workspace", place.workspaceId) !== undefined;
  return isOpen ? (findResource<Fields>(reading, place.workspaceId, trustKind, id) ?? null) : null;
}

async function unknownTrust({ log }: WorkloadExchangeOptions, { trust }: ExchangeRequest): Promise<null> {
  log.warn("an exchange was refused", { trust: TRUST_ID.test(trust) ? trust : "no id", check: "trust" });
  return null;
}

/** Tells the log and the trust why. A trust that is told too much at once leaves some of it to the log. */
async function refuse(
  { runtime, log }: WorkloadExchangeOptions,
  trust: Pick<ResourceRow, "id" | "workspaceId">,
  { actor }: Minting,
  { check, wanted, came, verified }: WorkloadFault,
): Promise<null> {
  const fault: WorkloadFault = { check, wanted, came, verified };
  log.warn("an exchange was refused", { trust: trust.id, ...fault });
  const message: RefuseWorkload = { type: "trust.refuse", ...fault };
  await runtime.ask(address(trust.workspaceId, actor, trust.id), message).catch(() => {
    log.warn("a refusal was not kept for those who manage the trust", { trust: trust.id });
  });
  return null;
}

import type { Runtime, RuntimeLog } from "../../../runtime/runtime.js";
import { findResource, isWorkspaceOpen, type ResourceRow } from "../../resources/resource.table.js";
import { findOwningWorkspace } from "../../resources/resource-location.table.js";
import { sha256Hex } from "../../sealer.js";
import type { MintCredentials, Minting, RefuseWorkload } from "../trusts/trust.messages.js";
import type { TrustTerms } from "../trusts/trust-terms.js";
import type { WorkloadFault, WorkloadVerifier } from "./workload-token.js";

/** The services that exchanges use. */
export interface WorkloadExchangeOptions {
  readonly runtime: Pick<Runtime, "ask" | "reading" | "randomBytes">;
  readonly verifier: WorkloadVerifier;
  /** Logs why an exchange was refused. The response does not contain the reason. */
  readonly log: RuntimeLog;
}

/** A request for credentials. */
export interface ExchangeRequest {
  readonly trust: string;
  readonly token: string;
  readonly client: string | null;
}

/** Credentials, and the trust through which they were minted. */
export interface Exchanged<Fields> {
  readonly trust: ResourceRow<Fields>;
  /** In the order in which their values were created. */
  readonly credentials: readonly { readonly id: string; readonly value: string }[];
  readonly expiresAt: string;
}

const TRUST_ID = /^r?trust_[0-9A-HJKMNP-TV-Z]{26}$/;

/**
 * Exchanges the OIDC token of a workload or host for `count` credentials. Returns null if the exchange is refused. Only
 * the log and the users who manage the trust get the reason.
 *
 * 1. The function verifies the token outside any turn.
 * 2. The trust's actor mints the credentials, if the trust has not changed since the verification.
 */
export async function exchangeWorkloadToken<Fields extends TrustTerms>(
  options: WorkloadExchangeOptions,
  request: ExchangeRequest,
  of: { readonly minting: Minting; readonly count: (fields: Fields) => number },
): Promise<Exchanged<Fields> | null> {
  const trust = findTrust<Fields>(options, of.minting, request.trust);
  if (trust !== null) return mint(options, trust, request, of);
  const id = TRUST_ID.test(request.trust) ? request.trust : "no id";
  options.log.warn("a token exchange was rejected", { trust: id, check: "trust" });
  return null;
}

async function mint<Fields extends TrustTerms>(
  options: WorkloadExchangeOptions,
  trust: ResourceRow<Fields>,
  { token, client }: ExchangeRequest,
  { minting, count }: { readonly minting: Minting; readonly count: (fields: Fields) => number },
): Promise<Exchanged<Fields> | null> {
  const { runtime, verifier } = options;
  const actor = minting.actor(trust.workspaceId, trust.id);
  const result = await verifier.verify(token, trust.fields, trust.workspaceId);
  if (!result.admits) return refuse(options, trust, minting, result);
  const values = Array.from({ length: count(trust.fields) }, () =>
    Buffer.from(runtime.randomBytes(32)).toString("base64url"),
  );
  const message: MintCredentials = {
    type: "trust.mint",
    trustVersion: trust.version,
    subject: result.subject,
    hashes: values.map(sha256Hex),
    client,
  };
  const answer = await runtime.ask(actor, message);
  if (!answer.minted) return refuse(options, trust, minting, answer);
  const credentials = values.map((value, index) => ({ id: answer.ids[index] ?? "", value }));
  return { trust, credentials, expiresAt: new Date(answer.expiresAtMs).toISOString() };
}

/** Finds the trust with this id. Returns null if there is none, or if its workspace is closed. */
function findTrust<Fields>(
  { runtime: { reading } }: WorkloadExchangeOptions,
  { trustKind }: Minting,
  id: string,
): ResourceRow<Fields> | null {
  const workspaceId = TRUST_ID.test(id) ? findOwningWorkspace(reading, trustKind, id) : undefined;
  if (workspaceId === undefined || !isWorkspaceOpen(reading, workspaceId)) return null;
  return findResource<Fields>(reading, workspaceId, trustKind, id) ?? null;
}

/**
 * Reports the reason to the log and to the trust's actor. If that actor has too many waiting messages, some reasons are
 * only in the log.
 */
async function refuse(
  { runtime, log }: WorkloadExchangeOptions,
  trust: Pick<ResourceRow, "id" | "workspaceId">,
  { actor }: Minting,
  { check, wanted, came, verified }: WorkloadFault,
): Promise<null> {
  const fault: WorkloadFault = { check, wanted, came, verified };
  log.warn("a token exchange was rejected", { trust: trust.id, ...fault });
  const message: RefuseWorkload = { type: "trust.refuse", ...fault };
  await runtime.ask(actor(trust.workspaceId, trust.id), message).catch(() => {
    log.warn("a rejected token exchange could not be recorded at its trust", { trust: trust.id });
  });
  return null;
}

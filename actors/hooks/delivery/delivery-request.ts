import { createHmac } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Reading } from "../../../storage/store.js";
import type { WorkEvent } from "../../events/catalogue.js";
import { writeJson } from "../../exact-json.js";
import type { Names } from "../../expressions/evaluate.js";
import type { Value } from "../../expressions/values.js";
import { findResource, isWorkspaceOpen, type ResourceRow } from "../../resources/resource.table.js";
import type { Sealer } from "../../sealer.js";
import type { HookFields } from "../hook.js";
import { hookOccurrences, listAttempts } from "../hook-occurrence.table.js";
import { toEventValues, toStepValues } from "../hook-values.js";
import { whyUnsupported } from "../unsupported-steps.js";
import { type PreparedCall, prepareCall } from "./call-step.js";
import { createCallbackToken } from "./callback-token.js";
import { toDefaultBody } from "./default-body.js";
import type { UnpreparedRequest } from "./failure-codes.js";
import type { HookTokenSigner } from "./hook-token.js";
import { type RecordedRequest, recordRequest } from "./recorded-request.js";
import { renderRequest, toStepOutput } from "./render-request.js";
import { findPreviousSecret, SIGNING_SECRET } from "./secret-rotation.machine.js";

/** One step of a hook occurrence. */
export interface Delivery {
  readonly workspaceId: string;
  readonly teamId: string;
  readonly hookId: string;
  readonly hookOccurrenceId: string;
  /** The step's index, from 0. */
  readonly step: number;
  /** The event if it is in memory; undefined if it must be read from the occurrence's row. */
  readonly event: WorkEvent | undefined;
}

/** The services needed to prepare a request. */
export interface RequestOptions {
  readonly reading: () => Reading;
  readonly sealer: Sealer;
  readonly baseUrl: () => string;
  newId(prefix: string): string;
  /** Signs hook tokens; null if the deployment has no key. */
  readonly tokens: HookTokenSigner | null;
  /**
   * Whether a replaced secret stays valid for some time. If so, the service signs requests with the old and the new
   * secret.
   */
  readonly rotates: boolean;
}

/** A request that is ready to be sent. */
export interface PreparedRequest {
  readonly kind: "request";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly step: string;
  /** The sender: the service, or a host of the workspace. */
  readonly from: "service" | "network";
  /** The request as its attempt stores it. */
  readonly recorded: RecordedRequest;
}

/**
 * Prepares the request of one step from the hook's current definition: a rendered and signed request, or a tool call.
 * If the request cannot be prepared, returns the reason.
 */
export function prepareRequest(
  options: RequestOptions,
  delivery: Delivery,
  nowMs: number,
): PreparedRequest | PreparedCall | UnpreparedRequest {
  const reading = options.reading();
  const { workspaceId, teamId, hookOccurrenceId } = delivery;
  const work = delivery.event ?? hookOccurrences.get(reading, workspaceId, teamId, hookOccurrenceId)?.work;
  const hook = findResource<HookFields>(reading, workspaceId, "hook", delivery.hookId);
  const step = hook?.fields.steps[delivery.step];
  if (work === undefined || hook === undefined || step === undefined) {
    return { step: step?.name ?? "", code: "broken", reason: "the hook no longer reads as it was written" };
  }
  if (!isWorkspaceOpen(reading, workspaceId)) {
    return { step: step.name, code: "broken", reason: "the workspace is closed" };
  }
  const unsupported = whyUnsupported(reading, hook, step);
  if (unsupported !== null) return { step: step.name, ...unsupported };
  const id = `msg_${hookOccurrenceId.slice(hookOccurrenceId.indexOf("_") + 1)}_${step.name}`;
  if (step.call !== null) {
    const names = () => expressionNames(reading, delivery, hook, work);
    return prepareCall(options, { hook, step: { ...step, call: step.call }, work, names, messageId: id, nowMs });
  }
  if (step.request === null) {
    return { step: step.name, code: "broken", reason: "the hook no longer reads as it was written" };
  }
  const rendered = renderRequest(step.request, () => expressionNames(reading, delivery, hook, work));
  if ("error" in rendered) return { step: step.name, code: "unwritable", reason: rendered.error };
  const { event, occurrence, on, task, run, test } = work;
  const body = writeJson(step.request.body === null ? toDefaultBody(hook.fields.key, work) : rendered.body);
  const proof = createProof(options, hook, { id, body, occurrence, nowMs });
  if (proof === null) return { step: step.name, code: "not-allowed", reason: "it could not be signed" };
  const cause = work.causes.at(-1);
  const headers: Record<string, string> = { ...rendered.headers };
  headers["content-type"] = "application/json";
  headers["user-agent"] = "Service-Hooks/1";
  headers["webhook-id"] = id;
  headers["webhook-timestamp"] = String(Math.floor(nowMs / 1_000));
  headers[proof.header] = proof.value;
  headers["service-hook"] = hook.fields.key;
  headers["service-callback-url"] = `${options.baseUrl()}/api/hook-callbacks`;
  headers["service-callback-token"] = createCallbackToken(options.sealer, { workspaceId, hookOccurrenceId, nowMs });
  if (test === true) headers["service-test"] = "true";
  if (cause !== undefined) headers["service-cause"] = cause;
  const recorded = recordRequest({
    url: rendered.url,
    body,
    ownHeaders: rendered.headers,
    secrets: proof.secrets,
    event: [event, task, run, hook.fields.key, on, occurrence, step.name],
  });
  return { kind: "request", url: rendered.url, headers, body, step: step.name, from: step.request.from, recorded };
}

/** Returns the names that a step's expressions see: the event, and the outputs of the earlier steps. */
function expressionNames(reading: Reading, delivery: Delivery, hook: ResourceRow<HookFields>, work: WorkEvent): Names {
  const outputs = delivery.step === 0 ? NO_OUTPUTS : listOutputs(reading, delivery, hook);
  return toStepValues(hook.fields, toEventValues(work), outputs);
}

const NO_OUTPUTS: Value = new Map();

function listOutputs(reading: Reading, delivery: Delivery, hook: ResourceRow<HookFields>): Value {
  const before = new Set(hook.fields.steps.slice(0, delivery.step).map(({ name }) => name));
  const outputs = new Map<string, Value>();
  const { workspaceId, teamId, hookOccurrenceId } = delivery;
  for (const { step, code, body } of listAttempts(reading, workspaceId, teamId, hookOccurrenceId)) {
    if (code !== null || !before.has(step)) continue;
    outputs.set(
      step,
      new Map<string, Value>([
        ["status", "done"],
        ["output", toStepOutput(body)],
      ]),
    );
  }
  return outputs;
}

/** The header that authenticates a request, and the secrets that sign it. */
interface Proof {
  readonly header: "authorization" | "webhook-signature";
  readonly value: string;
  readonly secrets: readonly string[];
}

/** Returns the proof of the request; null if the request cannot be signed. */
function createProof(
  { sealer, tokens, baseUrl, newId, rotates, reading }: RequestOptions,
  hook: ResourceRow<HookFields>,
  request: { readonly id: string; readonly body: string; readonly occurrence: string; readonly nowMs: number },
): Proof | null {
  const { id, body, occurrence, nowMs } = request;
  const audience = hook.fields.signing?.oidc?.audience;
  if (audience !== undefined) {
    if (tokens === null) return null;
    const token = tokens.sign({
      issuer: `${baseUrl()}/api`,
      audience,
      workspaceId: hook.workspaceId,
      teamId: hook.teamId ?? "",
      hook: hook.fields.key,
      occurrence,
      webhookId: id,
      body,
      tokenId: newId("jwt"),
      nowMs,
    });
    return { header: "authorization", value: `Bearer ${token}`, secrets: [] };
  }
  const secret = openSecret(sealer, hook.hidden[SIGNING_SECRET]);
  if (secret === null) return null;
  const message = { id, timestamp: Math.floor(nowMs / 1_000), body };
  const before = rotates ? openSecret(sealer, findPreviousSecret(reading(), hook, nowMs) ?? undefined) : null;
  const also = before === null ? "" : ` ${signMessage(before, message)}`;
  const secrets = before === null ? [secret] : [secret, before];
  return { header: "webhook-signature", value: `${signMessage(secret, message)}${also}`, secrets };
}

/**
 * Returns the `webhook-signature` header of Standard Webhooks. The signature covers the id, the timestamp and the body,
 * and uses a `whsec_...` secret. The service does not use the library `standardwebhooks`, because that library hashes
 * in JavaScript and takes 2 to 8 times the CPU time. Tests verify signatures with the library.
 */
export function signMessage(
  secret: string,
  message: { readonly id: string; readonly timestamp: number; readonly body: string },
): string {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const { id, timestamp, body } = message;
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
}

function openSecret(sealer: Pick<Sealer, "open">, sealed: string | undefined): string | null {
  if (sealed === undefined) return null;
  try {
    return sealer.open(sealed);
  } catch {
    return null;
  }
}

/** Number of decrypted secrets to cache. Decrypting a secret takes longer than signing a request. */
const MAX_CACHED_SECRETS = 1_000;

/** Returns a sealer that caches recently decrypted secrets. */
export function cachingSealer(sealer: Sealer): Sealer {
  const opened = new LRUCache<string, string>({ max: MAX_CACHED_SECRETS });
  return {
    ...sealer,
    open: (sealed) => {
      const known = opened.get(sealed);
      if (known !== undefined) return known;
      const secret = sealer.open(sealed);
      opened.set(sealed, secret);
      return secret;
    },
  };
}

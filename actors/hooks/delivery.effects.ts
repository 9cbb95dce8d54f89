import type { Effect } from "../../runtime/actor-type.js";
import type { Clock } from "../../runtime/clock.js";
import type { Reading } from "../../storage/store.js";
import { type Outbound, RequestRefused } from "../outbound/request.js";
import { type ResourceRow, resourceById } from "../resources/resource-rows.js";
import type { Sealer } from "../workspaces/secret-value.js";
import { callbackToken } from "./callback-token.js";
import { codeOfStatus, type HookFailureCode } from "./failure.js";
import { type HookFields, SIGNING_SECRET } from "./hook.kind.js";
import { type AttemptRow, firingEvents } from "./occurrence-rows.js";
import { signature } from "./signing.js";
import { whyUnmade } from "./unmade-steps.js";

/** The effect's name. */
export const DELIVERY_EFFECT = "hook-delivery";

/** Longest output kept of a step, in bytes. */
export const KEPT_OUTPUT_BYTES = 16 * 1024;

/** How many deliveries are under way at once. */
const CONCURRENCY = 512;

/** The effect's input: everything else is read when it runs, so that a retry goes by the hook as it is then. */
export interface Delivery {
  readonly workspaceId: string;
  readonly firingId: string;
  readonly hookId: string;
  readonly step: number;
  readonly timeoutMs: number;
}

/** What the effect gives back; numbered by the actor. */
export type DeliveryResult = Omit<AttemptRow, "n">;

export interface DeliveryOptions {
  readonly reading: () => Reading;
  readonly outbound: Outbound;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly baseUrl: () => string;
}

/** Makes the request of one step of one firing. Every failure is a result with its code; it never rejects. */
export function deliveryEffect(given: DeliveryOptions): Effect {
  const options = { ...given, sealer: { ...given.sealer, open: remembering(given.sealer.open) } };
  return {
    name: DELIVERY_EFFECT,
    concurrency: CONCURRENCY,
    run: (input, { signal }) => deliver(options, input as Delivery, signal),
  };
}

async function deliver(options: DeliveryOptions, delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult> {
  const begunMs = options.clock.now();
  const at = new Date(begunMs).toISOString();
  const prepared = prepare(options, delivery, begunMs);
  if ("code" in prepared) {
    const { code, reason, step } = prepared;
    return { step, at, tookMs: 0, requestHeaders: {}, status: null, body: "", code, reason };
  }
  const { url, headers, body, step } = prepared;
  const requestHeaders = shownHeaders(headers);
  try {
    const answer = await options.outbound.post({ url, headers, body, timeoutMs: delivery.timeoutMs, signal });
    const code = codeOfStatus(answer.status);
    const reason = code === null ? null : `it responded ${answer.status}`;
    const tookMs = options.clock.now() - begunMs;
    return { step, at, tookMs, requestHeaders, status: answer.status, body: answer.body, code, reason };
  } catch (error) {
    const { code, reason } = whyFailed(error);
    return { step, at, tookMs: options.clock.now() - begunMs, requestHeaders, status: null, body: "", code, reason };
  }
}

interface Prepared {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly step: string;
}
interface Unsent {
  readonly step: string;
  readonly code: HookFailureCode;
  readonly reason: string;
}

function prepare(options: DeliveryOptions, delivery: Delivery, nowMs: number): Prepared | Unsent {
  const reading = options.reading();
  const { workspaceId, firingId } = delivery;
  const work = firingEvents.get(reading, workspaceId, firingId);
  const hook = resourceById<HookFields>(reading, workspaceId, "hook", delivery.hookId);
  const step = hook?.fields.steps[delivery.step];
  const unmade = hook === undefined || step === undefined ? null : whyUnmade(reading, hook, step);
  if (step !== undefined && unmade !== null) return { step: step.name, ...unmade };
  if (work === undefined || hook === undefined || step === undefined || step.request === null) {
    return { step: step?.name ?? "", code: "broken", reason: "the hook no longer reads as it was written" };
  }
  const secret = openSecret(options.sealer, hook);
  if (secret === null) return { step: step.name, code: "not-allowed", reason: "it could not be signed" };
  const { event, occurrence, on, task, run } = work;
  const body = JSON.stringify(step.request.body ?? { hook: hook.fields.key, on, occurrence, event, task, run });
  const id = `msg_${firingId.slice(firingId.indexOf("_") + 1)}_${step.name}`;
  const timestamp = Math.floor(nowMs / 1_000);
  const cause = work.causes.at(-1);
  const headers: Record<string, string> = {
    ...step.request.headers,
    "content-type": "application/json",
    "user-agent": "Service-Hooks/1",
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signature(secret, { id, timestamp, body }),
    "service-hook": hook.fields.key,
    "service-callback-url": `${options.baseUrl()}/api/hook-callbacks`,
    "service-callback-token": callbackToken(options.sealer, { workspaceId, firingId, nowMs }),
    ...(cause === undefined ? {} : { "service-cause": cause }),
  };
  return { url: new URL(step.request.url), headers, body, step: step.name };
}

function openSecret(sealer: Sealer, hook: ResourceRow<HookFields>): string | null {
  const sealed = hook.hidden[SIGNING_SECRET];
  if (sealed === undefined) return null;
  try {
    return sealer.open(sealed);
  } catch {
    return null;
  }
}

const SHOWN_HEADERS: ReadonlySet<string> = new Set([
  ...["content-type", "user-agent", "webhook-id", "webhook-timestamp", "service-hook", "service-callback-url"],
  "service-cause",
]);

/** What history keeps of the headers: nothing that admits or proves anything, none of the hook's own values. */
function shownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) shown[name] = SHOWN_HEADERS.has(name) ? value : "(left out)";
  return shown;
}

function whyFailed(error: unknown): { readonly code: HookFailureCode; readonly reason: string } {
  if (error instanceof RequestRefused) return { code: "not-allowed", reason: error.message };
  const { name, code } =
    error instanceof Error
      ? { name: error.name, code: "code" in error ? String(error.code) : "" }
      : { name: "", code: "" };
  if (name === "TimeoutError" || name === "AbortError" || /TIMEOUT/.test(code)) {
    return { code: "unreachable", reason: "there was no response in the time left" };
  }
  const isNetwork = /^(E[A-Z]+|UND_ERR_[A-Z_]+|CERT_|DEPTH_ZERO|ERR_TLS|ERR_SSL)/.test(code);
  return isNetwork
    ? { code: "unreachable", reason: `nothing responded (${code})` }
    : { code: "errored", reason: `the request failed${code === "" ? "" : ` (${code})`}` };
}

/** Secrets kept open: opening one takes longer than signing with it. */
const SECRETS_KEPT = 1_000;

function remembering(open: (sealed: string) => string): (sealed: string) => string {
  const opened = new Map<string, string>();
  return (sealed) => {
    const known = opened.get(sealed);
    if (known !== undefined) return known;
    if (opened.size >= SECRETS_KEPT) opened.clear();
    const secret = open(sealed);
    opened.set(sealed, secret);
    return secret;
  };
}

import type { Clock, Scheduler } from "../../../runtime/clock.js";
import type { RunSignal } from "../../../runtime/effects/run-signal.js";
import { readText } from "../../outbound/http/answer-text.js";
import { toFailure } from "../../outbound/http/failure.js";
import { toLocation } from "../../outbound/http/header-text.js";
import type { BytesAnswer } from "../../outbound/http/http-exchange.js";
import type { Outbound } from "../../outbound/http/request.js";
import { requestedWaitMs } from "../../outbound/http/retry-after.js";
import { coversAddress } from "../../resources/fields.js";
import { timeText } from "../../time-text.js";
import { cutText } from "../../well-formed.js";
import { toStorableHeaders } from "../stored-headers.js";
import type { NotSent } from "./credentials.js";
import {
  type IntegrationRequestInput,
  type IntegrationRequestResult,
  MAX_FILE_BYTES,
  type RequestBlock,
} from "./integration-request.js";
import type { Mask } from "./mask.js";
import type { PreparedRequest } from "./prepare-request.js";
import { readAnswer, toStatusCode, unreadable } from "./read-answer.js";
import type { RenderedRequest } from "./render-request.js";

/** Maximum number of response bytes to read. If a response is longer, only its beginning is used. */
const MAX_ANSWER_BYTES = 512 * 1024;
/** Maximum number of bytes to read from a poll's response. The response is used completely or not at all. */
const MAX_POLL_BYTES = 2 * 1024 * 1024;
/** Maximum wait that a poll's host can ask for, in milliseconds. Other requests have a lower limit. */
const MAX_POLL_WAIT_MS = 24 * 60 * 60 * 1_000;
/** Error codes of a connection that broke during the request. */
const DROPPED: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

interface SendOptions {
  readonly outbound: Pick<Outbound, "send">;
  readonly clock: Clock;
  readonly scheduler?: Scheduler;
}

interface Sent {
  readonly prepared: PreparedRequest;
  readonly input: IntegrationRequestInput;
}

/** Sends the request and reads its response. The timeout starts now. */
export async function sendRequest(
  options: SendOptions,
  { prepared, input }: Sent,
  signal: RunSignal,
): Promise<IntegrationRequestResult> {
  const { clock, scheduler } = options;
  const { url, method } = prepared.request;
  const { mask } = prepared;
  const begunMs = clock.now();
  const about = { at: timeText(begunMs), method, origin: mask.text(url.origin) };
  const answer = await exchange(options, { prepared, input }, { begunMs, signal }).catch(toNoAnswer);
  const tookMs = clock.now() - begunMs;
  if ("code" in answer) {
    const none = { status: null, success: false, response: null, captures: "{}", retryAfterMs: null };
    return { ...about, tookMs, ...none, ...answer, reason: answer.reason === null ? null : mask.text(answer.reason) };
  }
  const { status, headers } = answer;
  if (scheduler !== undefined) await new Promise<void>((resolve) => scheduler.defer(resolve));
  const read = input.block.kind === "attachment" ? readFile(answer) : readBody(answer, { prepared, input });
  const isPolled = read.success && input.block.kind === "poll";
  const shown = isPolled ? { headers: toShownHeaders(headers, mask) } : {};
  const retryAfterMs = read.success ? null : toWaitMs(input.block, headers["retry-after"] ?? null, clock.now());
  return { ...about, tookMs, status, ...read, ...shown, retryAfterMs };
}

/**
 * Returns the headers of a poll's response without credentials, by lower-case name. Repeated headers are joined by
 * commas.
 */
function toShownHeaders(headers: BytesAnswer["headers"], mask: Mask): Record<string, string> {
  const named = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), mask.text([value ?? ""].flat().join(", "))] as const,
  );
  return toStorableHeaders(named);
}

type NoAnswer = Pick<IntegrationRequestResult, "code" | "reason" | "isUnsent">;

/** Exchanges the request for a response. Follows an attachment's redirects within the timeout. */
async function exchange(options: SendOptions, sent: Sent, run: RequestRun): Promise<BytesAnswer | NoAnswer> {
  const { prepared, input } = sent;
  let { request } = prepared;
  for (let hops = 0; ; hops++) {
    const answer = await sendOnce(options, { request, input }, run);
    const redirect = input.block.kind === "attachment" ? findRedirect(prepared, request, answer) : null;
    if (redirect === null || "code" in redirect) return redirect ?? answer;
    if (hops === MAX_HOPS) return { code: "rejected", reason: `it redirects more than ${MAX_HOPS} times` };
    request = redirect;
  }
}

interface RequestRun {
  readonly begunMs: number;
  readonly signal: RunSignal;
}

/**
 * Sends a request. Retries a GET once if the connection drops before or during a successful response and time is left.
 */
async function sendOnce(
  { outbound, clock }: SendOptions,
  { request, input }: { readonly request: RenderedRequest; readonly input: IntegrationRequestInput },
  { begunMs, signal }: RequestRun,
): Promise<BytesAnswer> {
  const leftMs = () => begunMs + input.timeoutMs - clock.now();
  const send = () =>
    outbound.send({ ...request, maxBodyBytes: toLimit(input.block), timeoutMs: Math.max(1, leftMs()), signal });
  const mayRepeat = () => request.method === "GET" && leftMs() > 0;
  try {
    const answer = await send();
    const isBroken = answer.unread?.kind === "broken" && toStatusCode(answer.status) === null;
    return isBroken && mayRepeat() ? await send() : answer;
  } catch (error) {
    if (!mayRepeat() || !isDropped(error)) throw error;
    return await send();
  }
}

function isDropped(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && DROPPED.has(error.code);
}

function toNoAnswer(error: unknown): NoAnswer {
  if (error instanceof Error && error.name === "TimeoutError")
    return { code: "timeout", reason: "there was no response in the time left" };
  return toFailure(error);
}

function toWaitMs({ kind }: RequestBlock, retryAfter: string | null, nowMs: number): number | null {
  return kind === "poll" ? requestedWaitMs(retryAfter, nowMs, MAX_POLL_WAIT_MS) : requestedWaitMs(retryAfter, nowMs);
}

function toLimit({ kind }: RequestBlock): number {
  if (kind === "attachment") return MAX_FILE_BYTES;
  return kind === "poll" ? MAX_POLL_BYTES : MAX_ANSWER_BYTES;
}

function readBody({ status, headers, bytes, unread }: BytesAnswer, { prepared, input }: Sent) {
  const { found, names, mask, request } = prepared;
  const { text, doubt } = readText(bytes, headers["content-type"]);
  const answer = { status, method: request.method, text, unread: unread ?? null, doubt };
  return readAnswer(answer, { found, input, names, mask });
}

function readFile({
  status,
  headers,
  bytes,
  unread,
}: BytesAnswer): Pick<IntegrationRequestResult, "success" | "response" | "captures" | "file" | "code" | "reason"> {
  const read = { response: null, captures: "{}" };
  const code = toStatusCode(status);
  if (code !== null) return { ...read, success: false, code, reason: `it responded ${status}` };
  if (unread?.kind === "size") return { ...read, success: false, code: "errored", reason: unread.reason };
  if (unread !== undefined)
    return { ...read, success: false, code: "errored", reason: unreadable(status, unread.reason) };
  const file = { bytes, type: headers["content-type"] ?? null };
  return { ...read, success: true, file, code: null, reason: null };
}

/** Maximum length of a scheme in a reason, in characters. */
const MAX_SCHEME = 50;
/** Maximum number of redirects per request. */
const MAX_HOPS = 5;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers of the definition that may be sent to another origin too: they cannot authenticate the service. */
const HARMLESS: readonly string[] = ["accept", "user-agent", "service-message-id"];

/**
 * Returns the request to the address that a response to an attachment request redirects to (RFC 9110, section 15.4), or
 * the reason why this request is not sent. Returns null if the response does not redirect, or if the redirect would
 * send the body to another origin. Redirects are common: many hosts store files at another address, which is valid for
 * a few minutes.
 *
 * Another origin gets only harmless headers, and never the token of a linked account. It gets the secret only if the
 * secret is bound to its address and the redirect does not change from https to http.
 */
function findRedirect(
  { found, credentialAt }: PreparedRequest,
  request: RenderedRequest,
  { status, headers }: Pick<BytesAnswer, "status" | "headers">,
): RenderedRequest | NotSent | null {
  const location = headers.location === undefined ? undefined : toLocation(headers.location);
  if (!REDIRECTS.has(status) || location === undefined || !URL.canParse(location, request.url)) return null;
  const url = new URL(location, request.url);
  url.hash = "";
  const isGet = status === 303 || (status < 303 && request.method === "POST");
  const isSameOrigin = url.origin === request.url.origin;
  if (!isGet && !isSameOrigin && request.body !== null) return null;
  if (!coversAddress(found.integration.fields.hosts, url)) {
    return { code: "not-allowed", reason: whyNotFollowed(url) };
  }
  const isDowngrade = request.url.protocol === "https:" && url.protocol === "http:";
  const sent = isSameOrigin
    ? request.headers
    : { ...pick(request.headers, HARMLESS), ...(isDowngrade ? {} : credentialAt(url)) };
  if (!isGet) return { ...request, url, headers: sent };
  const { "content-type": _type, ...rest } = sent;
  return { method: "GET", url, headers: rest, body: null };
}

function whyNotFollowed(url: URL): string {
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return `it redirects to an address that begins with ${cutText(url.protocol, MAX_SCHEME)}, which is not followed`;
  }
  return `it redirects to the host ${url.host}, which is not among the integration's hosts`;
}

function pick(headers: RenderedRequest["headers"], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));
}

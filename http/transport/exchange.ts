import { writeJson } from "../../actors/exact-json.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { BodyHold } from "../limits/body-quota.js";
import { TOO_MANY_OPEN } from "../limits/open-sockets.js";
import { parseBy } from "../wire/field-errors.js";
import { assertSendable } from "../wire/headers.js";
import { type EdgeRefusal, problemAnswer } from "../wire/problem.js";
import { readQuery } from "../wire/query.js";
import { Refused } from "../wire/refused.js";
import type { Answer, Outcome, Route } from "../wire/route.js";
import type { Found } from "../wire/router.js";
import type { Edge, ServerOptions } from "./edge.js";
import { admit, crowdedBy, type Entry, enter } from "./entry.js";
import { HandledRequest } from "./handled-request.js";
import { toRefusal } from "./refusal-of.js";
import { CLIENT_GONE, parseBody, type Received, receiveBody } from "./request-body.js";
import type { SendAnswer, StreamEnd, TransportAnswer, TransportRequest } from "./transport.js";

/**
 * Maximum time for a request to wait for its turn and to be handled, in milliseconds. After that the response is
 * `unavailable`.
 */
const HANDLER_TIMEOUT_MS = 60_000;

const CROWDED: Refusal = {
  refused: "too-many-requests",
  detail: "Too many of your requests are queued.",
  retryAfterSeconds: 1,
};
const LATE: EdgeRefusal = { refused: "unavailable", detail: "The response took too long.", retryAfterSeconds: 5 };
const NO_BODY = { data: undefined };
/** The recorded status of a request whose client disconnected before it got a response. */
const GONE_STATUS = 499;

/** Why a request is not served. */
type Reason = Refusal | EdgeRefusal;

/**
 * One request, from its arrival to its response. It gets exactly one response. If the request does not wait for its
 * body, its turn or its handler, the response is sent in the same tick. Otherwise the response is sent in a later
 * callback.
 *
 * A waiting request moves to the garbage collector's old generation, and keeps every object alive that it refers to. So
 * nothing in this class refers to the response.
 */
export class Exchange {
  readonly #edge: Edge;
  readonly #incoming: TransportRequest;
  readonly #send: SendAnswer;
  readonly #requestId: string;
  readonly #startedSeconds: number;
  /** Null when no route matched. */
  readonly #route: Route | null;
  readonly #entry: Entry | Reason;
  /** When the request asked for its turn. */
  #askedSeconds: number;
  /** Whether the request has waited since its credential was read. */
  #hasWaited = false;
  /** The memory reservation for the body. */
  #reservation: BodyHold | null = null;

  constructor(edge: Edge, found: Found | Reason, incoming: TransportRequest, send: SendAnswer) {
    const { options } = edge;
    this.#edge = edge;
    this.#incoming = incoming;
    this.#send = send;
    this.#requestId = options.newRequestId();
    this.#startedSeconds = options.seconds();
    this.#askedSeconds = this.#startedSeconds;
    this.#route = "route" in found ? found.route : null;
    this.#entry = this.#enter(found);
  }

  /** Serves the request. Never throws. */
  serve(): void {
    const entry = this.#entry;
    // A GET has no body, so it asks for its turn at once.
    if ("refused" in entry || entry.route.method === "GET") this.#takeTurn(null);
    else this.#receive(entry);
  }

  #enter(found: Found | Reason): Entry | Reason {
    const { options } = this.#edge;
    try {
      if ("route" in found) return enter(options, found, this.#incoming);
      return crowdedBy(options, this.#incoming, null) ?? found;
    } catch (error) {
      return this.#toRefusal(error);
    }
  }

  #receive({ route, source, client }: Entry): void {
    const { bodies, seconds } = this.#edge.options;
    const reservation = bodies.enter(source, client);
    this.#reservation = reservation;
    receiveBody(route, this.#incoming, reservation, (body) => {
      this.#askedSeconds = seconds();
      this.#hasWaited = true;
      this.#takeTurn(body);
    });
  }

  /** Handles the request, with its body, when its turn comes. */
  #takeTurn(body: Received): void {
    const entry = this.#entry;
    if ("refused" in entry || entry.route.isAlwaysAdmitted === true) {
      this.#handle(body);
      return;
    }
    const turn = this.#edge.options.turns.enter(entry.client, this.#incoming, HANDLER_TIMEOUT_MS);
    if (turn === null) this.#handle(body);
    else if (turn === "crowded") this.#answer(CROWDED);
    else {
      turn.then((begin) => {
        this.#hasWaited = true;
        if (begin === "turn") this.#handle(body);
        else this.#answer(begin === "gone" ? CLIENT_GONE : LATE);
      });
    }
  }

  #handle(received: Received): void {
    const entry = this.#entry;
    let outcome: Outcome | null;
    try {
      outcome = "refused" in entry ? entry : this.#callHandler(entry, received);
    } catch (error) {
      outcome = this.#toRefusal(error);
    }
    if (outcome !== null) this.#answer(outcome);
  }

  /**
   * Checks the request and calls its handler. Returns the outcome, or null if it follows later. May throw {@link
   * Refused}.
   */
  #callHandler(entry: Entry, received: Received): Outcome | null {
    const { route, params, caller: first, callerNow, client } = entry;
    const incoming = this.#incoming;
    const read = parseBody(route, incoming, received);
    if ("refused" in read) return read;
    // Check the caller again, because the credential may have become invalid during the wait for the body or the turn.
    const caller = this.#hasWaited ? admit(route, callerNow()) : first;
    if (isRefusal(caller)) return this.#answerAnyone(route, params) ?? caller;
    const barred = route.admits?.({ caller, params }) ?? null;
    if (barred !== null) return barred;
    const body = readBody(route, read.json);
    if ("errors" in body) return { refused: "invalid", errors: body.errors };
    const query = readQuery(route, incoming.query);
    if ("refused" in query) return query;
    const parsed = { params, query: query.data, body: body.data, caller, requestId: this.#requestId, client };
    const request = new HandledRequest(this.#edge.options, incoming, parsed);
    const outcome = this.#traced(route, () => route.handle(request));
    if (!(outcome instanceof Promise)) return outcome;
    this.#await(entry, request, outcome);
    return null;
  }

  #traced(route: Route, handle: () => Outcome | Promise<Outcome>): Outcome | Promise<Outcome> {
    const { traced } = this.#edge.options;
    if (traced === undefined) return handle();
    const { method } = this.#incoming;
    const header = (name: string) => this.#incoming.header(name);
    return traced({ method, header, route: route.path, requestId: this.#requestId }, handle);
  }

  /** Returns the response that the route gives to a request without a valid credential; null if it gives none. */
  #answerAnyone({ answersAnyone }: Route, params: Entry["params"]): Answer | null {
    const { method, query } = this.#incoming;
    return answersAnyone?.({ method, query, params, headers: () => this.#incoming.headers() }) ?? null;
  }

  #await(entry: Entry, request: HandledRequest, handled: Promise<Outcome>): void {
    const { options, limits } = this.#edge;
    const spentMs = (options.seconds() - this.#askedSeconds) * 1_000;
    limits.watch(handled, HANDLER_TIMEOUT_MS - spentMs, {
      done: (outcome) => this.#goOn(entry, request, outcome),
      failed: (error) => this.#answer(this.#toRefusal(error)),
      late: () => {
        request.abort();
        this.#answer(LATE);
      },
      unused: closeUnsent,
    });
  }

  /** Writes the outcome of an asynchronous handler. Waits for the next turn of the request's client first. */
  #goOn({ route, client }: Entry, { pause }: HandledRequest, outcome: Outcome): void {
    const turn = route.isAlwaysAdmitted === true ? null : this.#edge.options.turns.goOn(client);
    if (turn === null) this.#write(outcome, pause);
    else turn.then(() => this.#write(outcome, pause));
  }

  #write(outcome: Outcome, pause: () => Promise<void>): void {
    if ("refused" in outcome || outcome.body === undefined || outcome.json !== undefined) {
      this.#answer(outcome);
      return;
    }
    writeInPieces(outcome.body, pause).then(
      (json) => this.#answer({ ...outcome, json }),
      (error) => this.#answer(this.#toRefusal(error)),
    );
  }

  /** Responds with the outcome. If the client is still sending the body, drops the rest of it first. */
  #answer(handled: Outcome): void {
    this.#reservation?.end();
    if (!this.#incoming.isSending) this.#finish(handled);
    else this.#incoming.dropBody().then(() => this.#finish(handled));
  }

  /** Encodes, records and sends the outcome. */
  #finish(handled: Outcome): void {
    try {
      this.#sendEncoded(handled);
    } catch (error) {
      this.#edge.options.failed(this.#requestId, error);
    }
  }

  #sendEncoded(handled: Outcome): void {
    const { options } = this.#edge;
    const requestId = this.#requestId;
    const encoding = { requestId, incoming: this.#incoming };
    const { outcome, answer } = encodeOutcome(options, encoding, this.#withHint(this.#counted(handled)));
    if (this.#route !== null) options.answered?.(this.#route, outcome);
    // Record a bug with its own status even if the client is gone: status 499 would hide the bug.
    const isUnseen = outcome === CLIENT_GONE || (this.#incoming.isGone && answer.status < 500);
    const status = isUnseen ? GONE_STATUS : answer.status;
    if (!("stream" in answer)) {
      this.#record(status, false);
      if ("open" in answer)
        this.#send({ requestId, status: answer.status, headers: answer.headers, open: answer.open });
      else this.#send({ requestId, status: answer.status, headers: answer.headers, body: answer.body });
      return;
    }
    const { stream } = answer;
    const close = (end: StreamEnd): void => {
      stream.close(end);
      if (end.error !== undefined) options.failed(requestId, end.error);
      this.#record(status, !end.isWhole);
    };
    this.#send({ requestId, status: answer.status, headers: answer.headers, stream: { ...stream, close } });
  }

  #withHint(handled: Outcome): Outcome {
    if (!("refused" in handled) || handled.refused !== "not-found") return handled;
    const hint = this.#edge.hint(this.#incoming);
    return hint === null ? handled : { ...handled, hint };
  }

  /**
   * If the outcome is a live response, counts it while it is open. Returns a refusal instead if the holder of the
   * response already has too many open.
   */
  #counted(handled: Outcome): Outcome {
    if ("refused" in handled || handled.live === undefined) return handled;
    const { openSockets } = this.#edge.options;
    const { live } = handled;
    if (!openSockets.hasCapacity(live.holder)) return TOO_MANY_OPEN;
    return { ...handled, live: { ...live, open: openSockets.countedLive(live, this.#route?.path ?? "") } };
  }

  #record(status: number, isCut: boolean): void {
    const { options } = this.#edge;
    const seconds = options.seconds() - this.#startedSeconds;
    const { method } = this.#incoming;
    options.served({ requestId: this.#requestId, method, route: this.#route?.path ?? null, status, seconds, isCut });
  }

  #toRefusal(error: unknown): Reason {
    if (error instanceof Refused) return error.refusal;
    return toRefusal(error, this.#requestId, this.#edge.options.failed);
  }
}

/** Parses the body by the route's schema. Raw bytes are not parsed. */
function readBody({ body, rawBodyBytes }: Route, json: unknown): ReturnType<typeof parseBy> {
  if (body === undefined) return NO_BODY;
  return rawBodyBytes === undefined ? parseBy(body, json === undefined ? {} : json) : { data: json };
}

function closeUnsent(outcome: Outcome): void {
  if (!("refused" in outcome)) outcome.stream?.close();
}

/** Number of list elements to encode between pauses: about 0.1 ms of work. */
const ELEMENTS_AT_ONCE = 25;

/**
 * Encodes a response body as JSON, like `JSON.stringify`. If the body is an object, its long list members are encoded
 * in pieces, and other work runs in between. Encoding a page takes about a millisecond.
 */
export async function writeInPieces(body: unknown, pause: () => Promise<void>): Promise<string> {
  if (typeof body !== "object" || body === null || !Object.values(body).some(isLong)) return writeJson(body);
  const members: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    const text: string | undefined = isLong(value) ? await writeList(value, pause) : writeJson(value);
    if (text !== undefined) members.push(`${writeJson(name)}:${text}`);
  }
  return `{${members.join(",")}}`;
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > ELEMENTS_AT_ONCE;
}

async function writeList(list: readonly unknown[], pause: () => Promise<void>): Promise<string> {
  const pieces: string[] = [];
  for (let from = 0; from < list.length; from += ELEMENTS_AT_ONCE) {
    if (from > 0) await pause();
    pieces.push(writeJson(list.slice(from, from + ELEMENTS_AT_ONCE)).slice(1, -1));
  }
  return `[${pieces.join(",")}]`;
}

/** Maximum time for a client to receive one piece of a streamed response, in milliseconds. */
const STREAM_IDLE_MS = 30_000;
/**
 * Maximum time for a whole streamed response, in milliseconds. The source of the body stays open until the response
 * ends.
 */
const STREAM_WHOLE_MS = 5 * 60_000;

/** The outcome that the client gets, with its encoded response. */
interface Encoded {
  readonly outcome: Outcome;
  readonly answer: TransportAnswer;
}

/** Encodes the outcome of a request. An error becomes a refusal. */
function encodeOutcome(
  options: Pick<ServerOptions, "admission" | "clientAddress" | "failed">,
  { requestId, incoming }: { readonly requestId: string; readonly incoming: TransportRequest },
  handled: Outcome,
): Encoded {
  try {
    const isFailure = "refused" in handled && handled.refused === "unauthenticated";
    const outcome = (isFailure ? options.admission.ofFailure(options.clientAddress(incoming)) : null) ?? handled;
    const answer = encode(outcome);
    assertSendable(answer.headers);
    return { outcome, answer };
  } catch (error) {
    const outcome = toRefusal(error, requestId, options.failed);
    return { outcome, answer: problemAnswer(outcome) };
  }
}

function encode(answer: Outcome): TransportAnswer {
  if ("refused" in answer) return problemAnswer(answer);
  if (answer.stream !== undefined) {
    const { length, pieces, close, type = "application/json" } = answer.stream;
    const headers = { "content-type": type, ...answer.headers };
    const times = { idleMs: STREAM_IDLE_MS, wholeMs: STREAM_WHOLE_MS };
    return { status: answer.status, headers, stream: { length, pieces, close: () => close(), ...times } };
  }
  if (answer.live !== undefined) {
    const headers = { "content-type": answer.live.type, ...answer.headers };
    return { status: answer.status, headers, open: answer.live.open };
  }
  if (answer.text !== undefined) {
    const headers = { "content-type": answer.text.type, ...answer.headers };
    return { status: answer.status, headers, body: answer.text.content };
  }
  if (answer.body === undefined && answer.json === undefined) {
    return { status: answer.status, headers: { ...answer.headers }, body: "" };
  }
  return {
    status: answer.status,
    headers: { "content-type": "application/json", ...answer.headers },
    body: answer.json ?? writeJson(answer.body),
  };
}

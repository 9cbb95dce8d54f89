import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { isDamage, NotAccepted, Overloaded, Stopping, TurnFailed } from "../../runtime/runtime.js";
import { parseBy } from "../field-errors.js";
import type { BodyRoom } from "../limits/body-room.js";
import type { FairTurns } from "../limits/fair-turns.js";
import type { OpenSockets } from "../limits/open-sockets.js";
import { type EdgeRefusal, problemAnswer } from "../problem.js";
import { readQuery } from "../query.js";
import { Refused } from "../refused.js";
import type { Outcome, Route, RouteRequest } from "../route.js";
import { admit, crowdedBy, type Entry, type EntryOptions, enter } from "./entry.js";
import { checkApiVersion, clientName, commonHeaders } from "./headers.js";
import { writeInPieces } from "./json-pieces.js";
import { CLIENT_GONE, parseBody, type Received, receiveBody } from "./request-body.js";
import { createRouter, type Found } from "./router.js";
import type { SocketRequest, SocketRoute } from "./socket.js";
import {
  ClientGone,
  type SendAnswer,
  type StreamEnd,
  type TransportAnswer,
  type TransportHandlers,
  type TransportRequest,
  type UpgradeAnswer,
} from "./transport.js";

/** Time limit of a handler, and of the wait for its turn, after which the answer is `unavailable`, in milliseconds. */
const HANDLER_TIMEOUT_MS = 60_000;
/** Time limit for a client to take one piece of a streamed answer, in milliseconds. */
const STREAM_IDLE_MS = 30_000;
/** Time limit for a whole streamed answer, in milliseconds: its source is held open for that time. */
const STREAM_WHOLE_MS = 5 * 60_000;

/** An answered request, for log and metrics. Contains nothing that a client sent except its method. */
export interface ServedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The route's pattern, or null when none matched. */
  readonly route: string | null;
  /** 499 when the client went away before there was an answer. */
  readonly status: number;
  /** Time until the answer was made, or until a streamed one was sent. */
  readonly seconds: number;
  /** Whether the connection ended before all of a streamed answer was sent. */
  readonly isCut: boolean;
}

export interface ServerOptions extends EntryOptions {
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
  readonly openSockets: OpenSockets;
  readonly turns: FairTurns;
  readonly bodies: BodyRoom;
  readonly newRequestId: () => string;
  /** Seconds from any fixed point, for durations. */
  readonly seconds: () => number;
  readonly served: (served: ServedRequest) => void;
  /** Called with the outcome of each request to a route before it is encoded; for tests of declarations. */
  readonly answered?: (route: Route, outcome: Outcome) => void;
  /** Called for a throw that is a bug or damage, with only the request's id, before `served`. */
  readonly failed: (requestId: string, error: unknown) => void;
}

/** Everything between transport and routes: routing, authentication, parsing, problems, headers. */
export function createHandlers(options: ServerOptions): TransportHandlers {
  const findRoute = createRouter(options.routes);
  const sockets = new Map(options.sockets.map((socket) => [socket.path, socket]));
  const unrouted = (refusal: Refusal | EdgeRefusal, path: string): Refusal | EdgeRefusal =>
    sockets.has(path) ? { refused: "upgrade-required", detail: "This address takes WebSocket connections." } : refusal;
  return {
    request: (incoming, send) => {
      const found = findRoute(incoming.method, incoming.path);
      return serve(options, "route" in found ? found : unrouted(found, incoming.path), incoming, send);
    },
    upgrade: (incoming) => answerUpgrade(options, sockets.get(incoming.path), incoming),
    malformed: (refusal, status) => {
      const answer = problemAnswer(refusal, status);
      return { ...answer, headers: { ...commonHeaders(options.newRequestId()), ...answer.headers } };
    },
  };
}

const CROWDED: Refusal = {
  refused: "too-many-requests",
  detail: "Too many of your requests are waiting for their turn.",
  retryAfterSeconds: 1,
};
const LATE: EdgeRefusal = { refused: "unavailable", detail: "The answer took too long.", retryAfterSeconds: 5 };
/** What a request is counted as whose client went away before there was an answer: nobody was sent it. */
const GONE_STATUS = 499;

/** A request, and what is known of it before anything dear is done. */
interface Arrival {
  readonly requestId: string;
  readonly begunSeconds: number;
  readonly incoming: TransportRequest;
  /** Null when no route matched. */
  readonly route: Route | null;
  readonly entry: Entry | Refusal | EdgeRefusal;
  /** When it asked for its turn. */
  readonly askedSeconds: number;
}

/**
 * Takes a request in, and answers it when it is whole and has its turn. What waits grows old, and collections of young
 * objects keep whatever an old one refers to, garbage or not: so nothing that waits here refers to the answer.
 */
function serve(
  options: ServerOptions,
  found: Found | Refusal | EdgeRefusal,
  incoming: TransportRequest,
  send: SendAnswer,
): Promise<void> {
  const arrival = arrive(options, found, incoming);
  const { entry } = arrival;
  if ("refused" in entry) return answerRequest(options, arrival, entry, send);
  const inTurn = (body: Received): Promise<void> => {
    // What is read has no body, and asks for its turn at once.
    const asked = body === null ? arrival : { ...arrival, askedSeconds: options.seconds() };
    const isExempt = entry.route.isAlwaysAdmitted === true;
    const turn = isExempt ? null : options.turns.enter(entry.party, incoming, HANDLER_TIMEOUT_MS);
    if (turn === null) return answerRequest(options, asked, body, send);
    const without = (refusal: Refusal | EdgeRefusal) =>
      answerRequest(options, { ...asked, entry: refusal }, null, send);
    if (turn === "crowded") return without(CROWDED);
    return turn.then((begin) => {
      if (begin === "turn") return answerRequest(options, asked, body, send);
      return without(begin === "gone" ? CLIENT_GONE : LATE);
    });
  };
  if (entry.route.method === "GET") return inTurn(null);
  const room = options.bodies.enter(entry.party);
  return receiveBody(entry.route, incoming, room).then(inTurn).finally(room.end);
}

function arrive(options: ServerOptions, found: Found | Refusal | EdgeRefusal, incoming: TransportRequest): Arrival {
  const requestId = options.newRequestId();
  const begunSeconds = options.seconds();
  const route = "route" in found ? found.route : null;
  try {
    const entry = "route" in found ? enter(options, found, incoming) : (crowdedBy(options, incoming, null) ?? found);
    return { requestId, begunSeconds, incoming, route, entry, askedSeconds: begunSeconds };
  } catch (error) {
    return {
      requestId,
      begunSeconds,
      incoming,
      route,
      entry: refusalOf(error, requestId, options.failed),
      askedSeconds: begunSeconds,
    };
  }
}

/** Answers a request whose body is `received`. */
async function answerRequest(
  options: ServerOptions,
  arrival: Arrival,
  received: Received,
  send: SendAnswer,
): Promise<void> {
  const { requestId, route, incoming } = arrival;
  const { outcome, answer } = await settleRequest(options, arrival, received);
  if (route !== null) options.answered?.(route, outcome);
  const served = (isCut: boolean) => {
    const seconds = options.seconds() - arrival.begunSeconds;
    const status = outcome === CLIENT_GONE ? GONE_STATUS : answer.status;
    options.served({ requestId, method: incoming.method, route: route?.path ?? null, status, seconds, isCut });
  };
  const headers = Object.assign(commonHeaders(requestId), answer.headers);
  if (!("stream" in answer)) {
    served(false);
    return send({ status: answer.status, headers, body: answer.body });
  }
  const { stream } = answer;
  const close = (end: StreamEnd): void => {
    stream.close(end);
    if (end.error !== undefined) options.failed(requestId, end.error);
    served(!end.isWhole);
  };
  return send({ status: answer.status, headers, stream: { ...stream, close } });
}

/** The outcome of a request, and its encoding; a throw becomes a refusal. */
async function settleRequest(
  options: ServerOptions,
  arrival: Arrival,
  received: Received,
): Promise<{ readonly outcome: Outcome; readonly answer: TransportAnswer }> {
  const { requestId, incoming, entry } = arrival;
  try {
    let outcome: Outcome = "refused" in entry ? entry : await serveRoute(options, entry, arrival, received);
    if ("refused" in outcome && outcome.refused === "unauthenticated") {
      outcome = options.admission.ofFailure(options.clientAddress(incoming)) ?? outcome;
    }
    return { outcome, answer: encode(outcome) };
  } catch (error) {
    const outcome = refusalOf(error, requestId, options.failed);
    return { outcome, answer: problemAnswer(outcome) };
  }
}

async function answerUpgrade(
  options: ServerOptions,
  socket: SocketRoute | undefined,
  incoming: SocketRequest,
): Promise<UpgradeAnswer> {
  const requestId = options.newRequestId();
  const begun = options.seconds();
  const record = (status: number) => {
    const seconds = options.seconds() - begun;
    options.served({ requestId, method: "GET", route: socket?.path ?? null, status, seconds, isCut: false });
  };
  const admitted = await admitSocket(options, socket, incoming, requestId);
  if ("refused" in admitted) {
    const answer = problemAnswer(admitted);
    record(answer.status);
    return { refused: { ...answer, headers: { ...commonHeaders(requestId), ...answer.headers } } };
  }
  record(101);
  return { ...admitted, headers: commonHeaders(requestId) };
}

/** Admits a request for a socket, or refuses it. */
async function admitSocket(
  options: ServerOptions,
  socket: SocketRoute | undefined,
  incoming: SocketRequest,
  requestId: string,
): Promise<Omit<Extract<UpgradeAnswer, { readonly open: unknown }>, "headers"> | Refusal | EdgeRefusal> {
  if (socket === undefined) return { refused: "not-found" };
  const version = checkApiVersion(incoming.header("service-api-version"));
  if (version !== null) return version;
  const remoteAddress = options.clientAddress(incoming);
  const crowded = options.admission.ofAddress(remoteAddress);
  if (crowded !== null) return crowded;
  try {
    const admitted = await socket.open({
      ...{ path: incoming.path, query: incoming.query, header: (name) => incoming.header(name) },
      ...{ remoteAddress, requestId },
    });
    if (isRefusal(admitted)) {
      const isFailure = admitted.refused === "unauthenticated";
      return (isFailure ? options.admission.ofFailure(remoteAddress) : null) ?? admitted;
    }
    if (!options.openSockets.hasRoom(admitted.holder)) {
      return { refused: "too-many-requests", detail: "Too many sockets are open.", retryAfterSeconds: 5 };
    }
    return { maxMessageBytes: socket.maxMessageBytes, open: options.openSockets.counted(admitted) };
  } catch (error) {
    return refusalOf(error, requestId, options.failed);
  }
}

/** The outcome of a request to a route. The only place that catches {@link Refused}. */
async function serveRoute(
  options: ServerOptions,
  entry: Entry,
  arrival: Arrival,
  received: Received,
): Promise<Outcome> {
  try {
    return await handleRequest(options, entry, arrival, received);
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

async function handleRequest(
  options: ServerOptions,
  { route, params, caller: first, party }: Entry,
  { requestId, incoming, askedSeconds }: Arrival,
  received: Received,
): Promise<Outcome> {
  const read = parseBody(route, incoming, received);
  if ("refused" in read) return read;
  // The credential may have expired while the body arrived.
  const caller = route.method === "GET" ? first : admit(route, options.authenticate(incoming));
  if (isRefusal(caller)) return caller;
  const barred = route.admits?.({ caller, params }) ?? null;
  if (barred !== null) return barred;
  const body =
    route.body === undefined ? { data: undefined } : parseBy(route.body, read.json === undefined ? {} : read.json);
  if ("errors" in body) return { refused: "invalid", errors: body.errors };
  const query = readQuery(route, incoming.query);
  if ("refused" in query) return query;

  let lateness: AbortController | null = null;
  const request: RouteRequest = {
    params,
    query: query.data,
    body: body.data,
    caller,
    header: (name) => incoming.header(name),
    headers: () => incoming.headers(),
    client: clientName(incoming.header("service-client")),
    requestId,
    pause: () => options.turns.next(party),
    goOn: () => options.turns.goOn(party),
    get remoteAddress() {
      return options.clientAddress(incoming);
    },
    get signal() {
      lateness ??= new AbortController();
      return AbortSignal.any([incoming.signal, lateness.signal]);
    },
  };
  const answer = route.handle(request);
  if (!(answer instanceof Promise)) return answer;
  const spentMs = (options.seconds() - askedSeconds) * 1_000;
  const outcome = await withinTime(answer, HANDLER_TIMEOUT_MS - spentMs, () => lateness?.abort());
  const turn = route.isAlwaysAdmitted === true ? null : options.turns.goOn(party);
  if (turn !== null) await turn;
  if ("refused" in outcome || outcome.body === undefined || outcome.json !== undefined) return outcome;
  return { ...outcome, json: await writeInPieces(outcome.body, request.pause) };
}

async function withinTime(work: Promise<Outcome>, mostMs: number, isLate: () => void): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<EdgeRefusal>((resolve) => {
    timer = setTimeout(() => {
      resolve(LATE);
      isLate();
      // A later answer is not sent.
      work.then(closeUnsent, () => undefined);
    }, mostMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function closeUnsent(outcome: Outcome): void {
  if (!("refused" in outcome)) outcome.stream?.close();
}

function encode(answer: Outcome): TransportAnswer {
  if ("refused" in answer) return problemAnswer(answer);
  if (answer.stream !== undefined) {
    const headers = { "content-type": "application/json", ...answer.headers };
    const { length, pieces, close } = answer.stream;
    const times = { idleMs: STREAM_IDLE_MS, wholeMs: STREAM_WHOLE_MS };
    return { status: answer.status, headers, stream: { length, pieces, close: () => close(), ...times } };
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
    body: answer.json ?? JSON.stringify(answer.body),
  };
}

/** The refusal for a throw. */
function refusalOf(
  error: unknown,
  requestId: string,
  failed: (requestId: string, error: unknown) => void,
): Refusal | EdgeRefusal {
  if (error instanceof ClientGone) return CLIENT_GONE;
  if (error instanceof NotAccepted) return { refused: "conflict", detail: untakenText(error) };
  if (error instanceof Overloaded) {
    return { refused: "unavailable", detail: "Too much is waiting there already.", retryAfterSeconds: 1 };
  }
  if (error instanceof Stopping) {
    return { refused: "unavailable", detail: "The service is going away.", retryAfterSeconds: 5 };
  }
  failed(requestId, error);
  if (isDamage(error)) {
    return { refused: "damaged", detail: "What this needs was damaged on the disk; the log names the row." };
  }
  const what = error instanceof TurnFailed ? "The change could not be made" : "Something went wrong inside";
  return { refused: "internal", detail: `${what}; the log has it under request ${requestId}.` };
}

/** The kinds of actors whose states are in what their readers see. Others' would tell too much. */
const STATED: ReadonlySet<string> = new Set(["task", "run"]);

function untakenText({ untaken }: NotAccepted): string {
  if (untaken?.state === undefined || !STATED.has(untaken.kind)) return "This cannot be done in the state it is in.";
  const wanted = untaken.message.slice(untaken.message.indexOf(".") + 1);
  return `The ${untaken.kind} is in the state ${untaken.state}, where it takes no ${wanted}.`;
}

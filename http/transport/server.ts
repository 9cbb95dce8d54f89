import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { parseBy } from "../field-errors.js";
import type { BodyRoom } from "../limits/body-room.js";
import type { FairTurns } from "../limits/fair-turns.js";
import type { OpenSockets } from "../limits/open-sockets.js";
import { type EdgeRefusal, problemAnswer } from "../problem.js";
import { readQuery } from "../query.js";
import { Refused } from "../refused.js";
import type { Outcome, Route } from "../route.js";
import { admit, crowdedBy, type Entry, type EntryOptions, enter } from "./entry.js";
import { HandledRequest } from "./handled-request.js";
import { assertSendable, checkApiVersion, commonHeaders } from "./headers.js";
import { writeInPieces } from "./json-pieces.js";
import { refusalOf } from "./refusal-of.js";
import { CLIENT_GONE, parseBody, type Received, receiveBody } from "./request-body.js";
import { createRouter, type Found } from "./router.js";
import type { SocketRequest, SocketRoute } from "./socket.js";
import { TimeLimits, wakeByTimer } from "./time-limits.js";
import type {
  SendAnswer,
  StreamEnd,
  TransportAnswer,
  TransportHandlers,
  TransportRequest,
  UpgradeAnswer,
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

/** What requests share. */
interface Edge {
  readonly options: ServerOptions;
  readonly limits: TimeLimits;
}

/** Everything between transport and routes: routing, authentication, parsing, problems, headers. */
export function createHandlers(options: ServerOptions): TransportHandlers {
  const elapsedMs = () => options.seconds() * 1_000;
  const edge: Edge = { options, limits: new TimeLimits({ elapsedMs, wakeAfter: wakeByTimer }) };
  const findRoute = createRouter(options.routes);
  const sockets = new Map(options.sockets.map((socket) => [socket.path, socket]));
  const unrouted = (refusal: Refusal | EdgeRefusal, path: string): Refusal | EdgeRefusal =>
    sockets.has(path) ? { refused: "upgrade-required", detail: "This address takes WebSocket connections." } : refusal;
  return {
    request: (incoming, send) => {
      const found = findRoute(incoming.method, incoming.path);
      return serve(edge, "route" in found ? found : unrouted(found, incoming.path), incoming, send);
    },
    upgrade: (incoming) => answerUpgrade(options, sockets.get(incoming.path), incoming),
    malformed: (refusal, status) => {
      const answer = problemAnswer(refusal, status);
      return { ...answer, headers: commonHeaders(options.newRequestId(), answer.headers) };
    },
  };
}

const CROWDED: Refusal = {
  refused: "too-many-requests",
  detail: "Too many of your requests are waiting for their turn.",
  retryAfterSeconds: 1,
};
const LATE: EdgeRefusal = { refused: "unavailable", detail: "The answer took too long.", retryAfterSeconds: 5 };
const NO_BODY = { data: undefined };
/** What a request is counted as whose client went away before there was an answer: nobody was sent it. */
const GONE_STATUS = 499;

/** A request, and what is known of it before anything dear is done. */
interface Arrival {
  readonly requestId: string;
  readonly begunSeconds: number;
  readonly incoming: TransportRequest;
  readonly send: SendAnswer;
  /** Null when no route matched. */
  readonly route: Route | null;
  readonly entry: Entry | Refusal | EdgeRefusal;
  /** When it asked for its turn. */
  readonly askedSeconds: number;
  /** Whether it waited since its credential was read. */
  readonly hasWaited: boolean;
}

/**
 * Takes a request in, and answers it when it is whole and has its turn: at once where both are so and its handler answers
 * at once. What waits grows old, and collections of young objects keep whatever an old one refers to, garbage or not: so
 * nothing that waits here refers to the answer.
 */
function serve(
  edge: Edge,
  found: Found | Refusal | EdgeRefusal,
  incoming: TransportRequest,
  send: SendAnswer,
): Promise<void> | void {
  const arrival = arrive(edge.options, found, incoming, send);
  const { entry } = arrival;
  // What is read has no body, and asks for its turn at once.
  if ("refused" in entry || entry.route.method === "GET") return takeTurn(edge, arrival, null);
  return serveWithBody(edge, arrival, entry);
}

async function serveWithBody(edge: Edge, arrival: Arrival, { route, party }: Entry): Promise<void> {
  const { bodies, seconds } = edge.options;
  const room = bodies.enter(party);
  try {
    const body = await receiveBody(route, arrival.incoming, room);
    await takeTurn(edge, { ...arrival, askedSeconds: seconds(), hasWaited: true }, body);
  } finally {
    room.end();
  }
}

/** Answers a request with its body once it has its turn. */
function takeTurn(edge: Edge, arrival: Arrival, body: Received): Promise<void> | void {
  const { entry, incoming } = arrival;
  const isExempt = "refused" in entry || entry.route.isAlwaysAdmitted === true;
  const turn = isExempt ? null : edge.options.turns.enter(entry.party, incoming, HANDLER_TIMEOUT_MS);
  if (turn === null) return answerRequest(edge, arrival, body);
  const without = (refusal: Refusal | EdgeRefusal) => answerRequest(edge, { ...arrival, entry: refusal }, null);
  if (turn === "crowded") return without(CROWDED);
  return turn.then((begin) => {
    if (begin === "turn") return answerRequest(edge, { ...arrival, hasWaited: true }, body);
    return without(begin === "gone" ? CLIENT_GONE : LATE);
  });
}

function arrive(
  options: ServerOptions,
  found: Found | Refusal | EdgeRefusal,
  incoming: TransportRequest,
  send: SendAnswer,
): Arrival {
  const requestId = options.newRequestId();
  const begunSeconds = options.seconds();
  const route = "route" in found ? found.route : null;
  let entry: Arrival["entry"];
  try {
    entry = "route" in found ? enter(options, found, incoming) : (crowdedBy(options, incoming, null) ?? found);
  } catch (error) {
    entry = refusalOf(error, requestId, options.failed);
  }
  return { requestId, begunSeconds, incoming, send, route, entry, askedSeconds: begunSeconds, hasWaited: false };
}

/** Answers a request whose body is `received`: at once if its handler does. */
function answerRequest(edge: Edge, arrival: Arrival, received: Received): Promise<void> | void {
  const { entry, requestId } = arrival;
  const { options } = edge;
  const toOutcome = (error: unknown) =>
    error instanceof Refused ? error.refusal : refusalOf(error, requestId, options.failed);
  let outcome: Promise<Outcome> | Outcome;
  try {
    outcome = "refused" in entry ? entry : handleRequest(edge, entry, arrival, received);
  } catch (error) {
    outcome = toOutcome(error);
  }
  const send = (settled: Outcome) => sendOutcome(options, arrival, settled);
  return outcome instanceof Promise ? outcome.then(send, (error) => send(toOutcome(error))) : send(outcome);
}

/** Encodes, records and sends the outcome of a request. */
function sendOutcome(options: ServerOptions, arrival: Arrival, handled: Outcome): Promise<void> | void {
  const { requestId, route } = arrival;
  const { outcome, answer } = encoded(options, arrival, handled);
  if (route !== null) options.answered?.(route, outcome);
  const status = outcome === CLIENT_GONE ? GONE_STATUS : answer.status;
  if (!("stream" in answer)) {
    recordServed(options, arrival, status, false);
    return arrival.send({ requestId, status: answer.status, headers: answer.headers, body: answer.body });
  }
  const { stream } = answer;
  const close = (end: StreamEnd): void => {
    stream.close(end);
    if (end.error !== undefined) options.failed(requestId, end.error);
    recordServed(options, arrival, status, !end.isWhole);
  };
  return arrival.send({ requestId, status: answer.status, headers: answer.headers, stream: { ...stream, close } });
}

function recordServed(
  options: ServerOptions,
  { requestId, begunSeconds, incoming, route }: Arrival,
  status: number,
  isCut: boolean,
): void {
  const seconds = options.seconds() - begunSeconds;
  options.served({ requestId, method: incoming.method, route: route?.path ?? null, status, seconds, isCut });
}

/** The outcome as it is told, and its encoding; a throw becomes a refusal. */
function encoded(
  options: ServerOptions,
  { requestId, incoming }: Arrival,
  handled: Outcome,
): { readonly outcome: Outcome; readonly answer: TransportAnswer } {
  try {
    const isFailure = "refused" in handled && handled.refused === "unauthenticated";
    const outcome = (isFailure ? options.admission.ofFailure(options.clientAddress(incoming)) : null) ?? handled;
    const answer = encode(outcome);
    assertSendable(answer.headers);
    return { outcome, answer };
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
    return { refused: { ...answer, headers: commonHeaders(requestId, answer.headers) } };
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

/** Handles a request to a route; throws or rejects with {@link Refused}, which only {@link answerRequest} catches. */
function handleRequest(
  { options, limits }: Edge,
  entry: Entry,
  { requestId, incoming, askedSeconds, hasWaited }: Arrival,
  received: Received,
): Promise<Outcome> | Outcome {
  const { route, params, caller: first, callerNow, party } = entry;
  const read = parseBody(route, incoming, received);
  if ("refused" in read) return read;
  // The credential may have ended while the body arrived, or the request waited for its turn.
  const caller = hasWaited ? admit(route, callerNow()) : first;
  if (isRefusal(caller)) return caller;
  const barred = route.admits?.({ caller, params }) ?? null;
  if (barred !== null) return barred;
  const body = readBody(route, read.json);
  if ("errors" in body) return { refused: "invalid", errors: body.errors };
  const query = readQuery(route, incoming.query);
  if ("refused" in query) return query;
  const parsed = { params, query: query.data, body: body.data, caller, requestId, party };
  const request = new HandledRequest(options, incoming, parsed);
  const answer = route.handle(request);
  if (!(answer instanceof Promise)) return answer;
  const spentMs = (options.seconds() - askedSeconds) * 1_000;
  const inTime = limits.within(answer, HANDLER_TIMEOUT_MS - spentMs, {
    late: () => {
      request.abort();
      return LATE;
    },
    unused: closeUnsent,
  });
  return finish(options, entry, inTime, request.pause);
}

/** The body as the route's schema has it. Raw bytes are what they are. */
function readBody({ body, rawBodyBytes }: Route, json: unknown): ReturnType<typeof parseBy> {
  if (body === undefined) return NO_BODY;
  return rawBodyBytes === undefined ? parseBy(body, json === undefined ? {} : json) : { data: json };
}

/** Waits for a handler's outcome and for a turn to write it. */
async function finish(
  { turns }: ServerOptions,
  { route, party }: Entry,
  handled: Promise<Outcome>,
  pause: () => Promise<void>,
): Promise<Outcome> {
  const outcome = await handled;
  const turn = route.isAlwaysAdmitted === true ? null : turns.goOn(party);
  if (turn !== null) await turn;
  if ("refused" in outcome || outcome.body === undefined || outcome.json !== undefined) return outcome;
  return { ...outcome, json: await writeInPieces(outcome.body, pause) };
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

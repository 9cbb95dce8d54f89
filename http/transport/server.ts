import type { Caller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { isDamage, NotAccepted, Overloaded, Stopping, TurnFailed } from "../../runtime/runtime.js";
import { parseBy } from "../field-errors.js";
import type { Admission } from "../limits/admission.js";
import type { ClientAddress } from "../limits/client-address.js";
import { type FairTurns, partyOf } from "../limits/fair-turns.js";
import type { OpenSockets } from "../limits/open-sockets.js";
import { type EdgeRefusal, problemAnswer } from "../problem.js";
import { readQuery } from "../query.js";
import { Refused } from "../refused.js";
import type { Outcome, Route, RouteRequest } from "../route.js";
import { checkApiVersion, clientName, commonHeaders } from "./headers.js";
import { readBytes, readJson } from "./request-body.js";
import { createRouter, type Found } from "./router.js";
import type { SocketRequest, SocketRoute } from "./socket.js";
import type { StreamEnd, TransportAnswer, TransportHandlers, TransportRequest, UpgradeAnswer } from "./transport.js";

/** Time limit of a handler, after which the request is answered `unavailable`, in milliseconds. */
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
  readonly status: number;
  /** Time until the answer was made, or until a streamed one was sent. */
  readonly seconds: number;
  /** Whether the connection ended before all of a streamed answer was sent. */
  readonly isCut: boolean;
}

export interface ServerOptions {
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
  /** The caller of a request; null without a credential. */
  readonly authenticate: (request: Credentials) => Caller | null | Refusal;
  readonly clientAddress: ClientAddress;
  readonly admission: Admission;
  readonly openSockets: OpenSockets;
  readonly turns: FairTurns;
  readonly newRequestId: () => string;
  /** Seconds from any fixed point, for durations. */
  readonly seconds: () => number;
  readonly served: (served: ServedRequest) => void;
  /** Called with the outcome of each request to a route before it is encoded; for tests of declarations. */
  readonly answered?: (route: Route, outcome: Outcome) => void;
  /** Called for a throw that is a bug, with only the request's id. */
  readonly failed: (requestId: string, error: unknown) => void;
}

/** The parts of a request that can carry a credential. */
export interface Credentials {
  readonly method: string;
  header(name: string): string | undefined;
}

/** Everything between transport and routes: routing, authentication, parsing, problems, headers. */
export function createHandlers(options: ServerOptions): TransportHandlers {
  const findRoute = createRouter(options.routes);
  const sockets = new Map(options.sockets.map((socket) => [socket.path, socket]));
  const unrouted = (refusal: Refusal | EdgeRefusal, path: string): Refusal | EdgeRefusal =>
    sockets.has(path) ? { refused: "upgrade-required", detail: "This address takes WebSocket connections." } : refusal;
  return {
    request: (incoming) => {
      const found = findRoute(incoming.method, incoming.path);
      return answerRequest(options, "route" in found ? found : unrouted(found, incoming.path), incoming);
    },
    upgrade: (incoming) => answerUpgrade(options, sockets.get(incoming.path), incoming),
    malformed: (refusal, status) => {
      const answer = problemAnswer(refusal, status);
      return { ...answer, headers: { ...commonHeaders(options.newRequestId()), ...answer.headers } };
    },
  };
}

async function answerRequest(
  options: ServerOptions,
  found: Found | Refusal | EdgeRefusal,
  incoming: TransportRequest,
): Promise<TransportAnswer> {
  const requestId = options.newRequestId();
  const begun = options.seconds();
  const route = "route" in found ? found.route : null;
  const { outcome, answer } = await settleRequest(options, found, incoming, requestId);
  if (route !== null) options.answered?.(route, outcome);
  const served = (isCut: boolean) => {
    const seconds = options.seconds() - begun;
    const { status } = answer;
    options.served({ requestId, method: incoming.method, route: route?.path ?? null, status, seconds, isCut });
  };
  const headers = Object.assign(commonHeaders(requestId), answer.headers);
  if (!("stream" in answer)) {
    served(false);
    return { status: answer.status, headers, body: answer.body };
  }
  const { stream } = answer;
  const close = (end: StreamEnd): void => {
    stream.close(end);
    if (end.error !== undefined) options.failed(requestId, end.error);
    served(!end.isWhole);
  };
  return { status: answer.status, headers, stream: { ...stream, close } };
}

/** The outcome of a request, and its encoding; a throw becomes a refusal. */
async function settleRequest(
  options: ServerOptions,
  found: Found | Refusal | EdgeRefusal,
  incoming: TransportRequest,
  requestId: string,
): Promise<{ readonly outcome: Outcome; readonly answer: TransportAnswer }> {
  try {
    let outcome: Outcome;
    if ("route" in found) outcome = await serveRoute(options, found, incoming, requestId);
    else outcome = options.admission.ofAddress(options.clientAddress(incoming)) ?? found;
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
  found: Found,
  incoming: TransportRequest,
  requestId: string,
): Promise<Outcome> {
  try {
    return await handleRequest(options, found, incoming, requestId);
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

async function handleRequest(
  options: ServerOptions,
  { route, params }: Found,
  incoming: TransportRequest,
  requestId: string,
): Promise<Outcome> {
  const known = options.authenticate(incoming);
  const crowded = route.isAlwaysAdmitted === true ? null : crowdedBy(options, incoming, known);
  if (crowded !== null) return crowded;
  const version = checkApiVersion(incoming.header("service-api-version"));
  if (version !== null) return version;
  const first = admit(route, known);
  if (isRefusal(first)) return first;

  const read = await readBody(route, incoming);
  if ("refused" in read) return read;
  // The credential may have expired while the body arrived.
  const caller = route.method === "GET" ? first : admit(route, options.authenticate(incoming));
  if (isRefusal(caller)) return caller;
  const party = partyOf(caller, () => options.clientAddress(incoming));
  const turn = route.isAlwaysAdmitted === true ? null : options.turns.enter(party);
  if (turn !== null) await turn;
  const barred = route.admits?.({ caller, params }) ?? null;
  if (barred !== null) return barred;
  const body =
    route.body === undefined ? { data: undefined } : parseBy(route.body, read.given === undefined ? {} : read.given);
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
    client: clientName(incoming.header("service-client")),
    requestId,
    pause: () => options.turns.next(party),
    get remoteAddress() {
      return options.clientAddress(incoming);
    },
    get signal() {
      lateness ??= new AbortController();
      return AbortSignal.any([incoming.signal, lateness.signal]);
    },
  };
  const answer = route.handle(request);
  return answer instanceof Promise ? await withinTime(answer, () => lateness?.abort()) : answer;
}

/** The body for the route's schema: raw bytes, or parsed JSON. */
async function readBody(
  route: Route,
  incoming: TransportRequest,
): Promise<{ readonly given: unknown } | Refusal | EdgeRefusal> {
  if (route.method === "GET") return { given: undefined };
  if (route.rawBodyBytes !== undefined) {
    const bytes = await readBytes(incoming, route.rawBodyBytes);
    return "refused" in bytes ? bytes : { given: bytes };
  }
  const read = await readJson(incoming, route.access);
  return "refused" in read ? read : { given: read.json };
}

/** Counts the request by its valid credential, or else by its address; a refusal beyond the limit. */
function crowdedBy(
  { admission, clientAddress }: ServerOptions,
  incoming: TransportRequest,
  known: Caller | null | Refusal,
): Refusal | null {
  if (known === null || isRefusal(known)) return admission.ofAddress(clientAddress(incoming));
  return admission.ofCaller(known);
}

/** The caller that the route's handler gets, or a refusal. An invalid credential does not matter on a public route. */
function admit(route: Route, caller: Caller | null | Refusal): RouteRequest["caller"] | Refusal {
  if (route.access === "public") return caller !== null && isRefusal(caller) ? null : caller;
  if (caller !== null && isRefusal(caller)) return caller;
  if (route.access === "person") {
    return caller?.kind === "person"
      ? caller
      : { refused: "unauthenticated", detail: "This needs a signed-in person." };
  }
  return caller ?? { refused: "unauthenticated", detail: "This needs a signed-in person or a token." };
}

async function withinTime(work: Promise<Outcome>, isLate: () => void): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<EdgeRefusal>((resolve) => {
    timer = setTimeout(() => {
      resolve({ refused: "unavailable", detail: "The answer took too long.", retryAfterSeconds: 5 });
      isLate();
      // A later answer is not sent.
      work.then(closeUnsent, () => undefined);
    }, HANDLER_TIMEOUT_MS);
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
  if (answer.body === undefined) return { status: answer.status, headers: { ...answer.headers }, body: "" };
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
  if (error instanceof NotAccepted) {
    return { refused: "conflict", detail: "This cannot be done in the state it is in." };
  }
  if (error instanceof Overloaded) {
    return { refused: "unavailable", detail: "Too much is waiting there already.", retryAfterSeconds: 1 };
  }
  if (error instanceof Stopping) {
    return { refused: "unavailable", detail: "The service is going away.", retryAfterSeconds: 5 };
  }
  failed(requestId, error);
  if (isDamage(error)) {
    return {
      refused: "damaged",
      detail: `What this needs was damaged on the disk; the log has it under ${requestId}.`,
    };
  }
  const what = error instanceof TurnFailed ? "The change could not be made" : "Something went wrong inside";
  return { refused: "internal", detail: `${what}; the log has it under request ${requestId}.` };
}

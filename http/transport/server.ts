import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { TOO_MANY_OPEN } from "../limits/open-sockets.js";
import { checkApiVersion, commonHeaders } from "../wire/headers.js";
import { type EdgeRefusal, problemAnswer } from "../wire/problem.js";
import type { Route } from "../wire/route.js";
import { createRouter, type Found } from "../wire/router.js";
import type { SocketRequest, SocketRoute } from "../wire/socket.js";
import type { Edge, ServerOptions } from "./edge.js";
import { READ_ONLY, refuseHost } from "./entry.js";
import { Exchange } from "./exchange.js";
import { toRefusal } from "./refusal-of.js";
import { TimeLimits, wakeByTimer } from "./time-limits.js";
import type { TransportHandlers, TransportRequest, UpgradeAnswer } from "./transport.js";

/** Creates everything between the transport and the routes: routing, authentication, parsing, problems and headers. */
export function createHandlers(options: ServerOptions): TransportHandlers {
  const elapsedMs = () => options.seconds() * 1_000;
  const findRoute = createRouter(options.routes);
  const edge: Edge = {
    options,
    limits: new TimeLimits({ elapsedMs, wakeAfter: wakeByTimer }),
    hint: ({ method, path }) => options.hintOf?.(method, path, findRoute) ?? null,
  };
  const pages = new Map(options.routes.map((route) => [route, findPageRoute(route)]));
  const sockets = new Map(options.sockets.map((socket) => [socket.path, socket]));
  const unrouted = (refusal: Refusal | EdgeRefusal, path: string): Refusal | EdgeRefusal =>
    refusal.refused === "not-found" && sockets.has(path)
      ? { refused: "upgrade-required", detail: "This address takes WebSocket connections." }
      : refusal;
  const shown = (found: Found, incoming: Pick<TransportRequest, "header">): Found => {
    if (found.route.page === undefined || incoming.header("sec-fetch-dest") !== "document") return found;
    return { ...found, route: pages.get(found.route) ?? found.route };
  };
  return {
    request: (incoming, send) => {
      const found = findRoute(incoming.method, incoming.path);
      const served = "route" in found ? shown(found, incoming) : unrouted(found, incoming.path);
      new Exchange(edge, refuseHost(options, incoming) ?? served, incoming, send).serve();
    },
    upgrade: (incoming) => answerUpgrade(options, sockets.get(incoming.path), incoming),
    malformed: (refusal, status) => {
      const answer = problemAnswer(refusal, status);
      return { ...answer, headers: commonHeaders(options.newRequestId(), answer.headers) };
    },
  };
}

/**
 * Returns a public route that redirects a browser from the route's address to the page that shows the same resource;
 * undefined if `route` has no page.
 */
function findPageRoute(route: Route): Route | undefined {
  const { page } = route;
  if (page === undefined) return undefined;
  const { admits: _admits, query: _query, ...shared } = route;
  return {
    ...shared,
    access: "public",
    handle: ({ params }) => ({ status: 303, headers: { location: page(params), vary: "sec-fetch-dest" } }),
  };
}

async function answerUpgrade(
  options: ServerOptions,
  socket: SocketRoute | undefined,
  incoming: SocketRequest,
): Promise<UpgradeAnswer> {
  const requestId = options.newRequestId();
  const started = options.seconds();
  const record = (status: number) => {
    const seconds = options.seconds() - started;
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

/** Admits or refuses a WebSocket request. */
async function admitSocket(
  options: ServerOptions,
  socket: SocketRoute | undefined,
  incoming: SocketRequest,
  requestId: string,
): Promise<Omit<Extract<UpgradeAnswer, { readonly open: unknown }>, "headers"> | Refusal | EdgeRefusal> {
  const misdirected = refuseHost(options, incoming);
  if (misdirected !== null) return misdirected;
  if (socket === undefined) return { refused: "not-found" };
  const version = checkApiVersion(incoming.header("service-api-version"));
  if (version !== null) return version;
  const remoteAddress = options.clientAddress(incoming);
  const crowded = options.admission.ofAddress(() => remoteAddress);
  if (crowded !== null) return crowded;
  if (options.isReadOnly === true && !socket.isServedReadOnly) return READ_ONLY;
  try {
    const admitted = await socket.open({
      path: incoming.path,
      query: incoming.query,
      header: (name) => incoming.header(name),
      remoteAddress,
      requestId,
    });
    if (isRefusal(admitted)) {
      const isFailure = admitted.refused === "unauthenticated";
      return (isFailure ? options.admission.ofFailure(remoteAddress) : null) ?? admitted;
    }
    if (!options.openSockets.hasCapacity(admitted.holder)) return TOO_MANY_OPEN;
    return { maxMessageBytes: socket.maxMessageBytes, open: options.openSockets.counted(admitted, socket.path) };
  } catch (error) {
    return toRefusal(error, requestId, options.failed);
  }
}

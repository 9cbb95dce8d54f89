import type { BodyQuota } from "../limits/body-quota.js";
import type { FairTurns } from "../limits/fair-turns.js";
import type { OpenSockets } from "../limits/open-sockets.js";
import type { HintOf } from "../wire/id-hints.js";
import type { Outcome, Route } from "../wire/route.js";
import type { ServedRequest } from "../wire/service-log.js";
import type { SocketRoute } from "../wire/socket.js";
import type { EntryOptions } from "./entry.js";
import type { TimeLimits } from "./time-limits.js";
import type { TransportRequest } from "./transport.js";

export interface ServerOptions extends EntryOptions {
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
  readonly openSockets: OpenSockets;
  readonly turns: FairTurns;
  readonly bodies: BodyQuota;
  readonly newRequestId: () => string;
  /** Seconds since any fixed point, to measure durations. */
  readonly seconds: () => number;
  readonly served: (served: ServedRequest) => void;
  readonly hintOf?: HintOf;
  /** Runs the handler of a request in a span of its own. */
  readonly traced?: Traced | undefined;
  /**
   * Called with the outcome of each request to a route, before the response is sent. Tests use it to check the route
   * declarations.
   */
  readonly answered?: (route: Route, outcome: Outcome) => void;
  /**
   * Called before `served` if a request failed because of a bug or damaged data, with the request's id and the error.
   */
  readonly failed: (requestId: string, error: unknown) => void;
}

/** Runs the handler of a request. `header` reads the request's headers. */
export type Traced = (
  request: Pick<TransportRequest, "method" | "header"> & { readonly route: string; readonly requestId: string },
  handle: () => Outcome | Promise<Outcome>,
) => Outcome | Promise<Outcome>;

/** The parts of the server that all requests share. */
export interface Edge {
  readonly options: ServerOptions;
  readonly limits: TimeLimits;
  /** Returns a hint for a "not found" response to a request with this path; null if the path has the right form. */
  readonly hint: (incoming: Pick<TransportRequest, "method" | "path">) => string | null;
}

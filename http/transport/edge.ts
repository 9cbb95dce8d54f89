import type { BodyRoom } from "../limits/body-room.js";
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
  readonly bodies: BodyRoom;
  readonly newRequestId: () => string;
  /** Seconds from any fixed point, for durations. */
  readonly seconds: () => number;
  readonly served: (served: ServedRequest) => void;
  readonly hintOf?: HintOf;
  /** Called with the outcome of each request to a route before it is encoded; for tests of declarations. */
  readonly answered?: (route: Route, outcome: Outcome) => void;
  /** Called for a throw that is a bug or damage, with only the request's id, before `served`. */
  readonly failed: (requestId: string, error: unknown) => void;
}

/** What requests share. */
export interface Edge {
  readonly options: ServerOptions;
  readonly limits: TimeLimits;
  /** What the path of a request that found nothing takes; null where its form is right. */
  readonly hint: (incoming: Pick<TransportRequest, "method" | "path">) => string | null;
}

import { createTopics } from "../../actors/catalogue.js";
import type { EdgeParts, RouteEntry } from "../access/edge-parts.js";
import type { SocketRoute } from "../wire/socket.js";
import { eventStreamRoutes } from "./event-stream.routes.js";
import { StreamReaders } from "./stream-readers.js";
import { streamSocket } from "./stream-socket.js";

/**
 * The `StreamReaders` of each service. The WebSocket and the route of a service are created separately, but share this
 * object.
 */
const readersOf = new WeakMap<EdgeParts, StreamReaders>();

function findReaders(parts: EdgeParts): StreamReaders {
  const known = readersOf.get(parts);
  if (known !== undefined) return known;
  const { runtime, kinds, judging, site } = parts;
  const { callerOf, expired } = site;
  const readers = new StreamReaders({ runtime, topics: createTopics({ kinds, judging }), callerOf, expired });
  readersOf.set(parts, readers);
  return readers;
}

/** The route of the event stream. The WebSocket has the same path. */
export const streamsArea: readonly RouteEntry[] = [
  { tag: "Sockets", make: (parts) => eventStreamRoutes(findReaders(parts)) },
];

/** Creates the WebSocket of the streams. */
export function createStreamSocket(parts: EdgeParts): SocketRoute {
  return streamSocket(findReaders(parts));
}

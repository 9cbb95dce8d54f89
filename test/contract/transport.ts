import type { Test } from "tap";
import type {
  Transport,
  TransportAnswer,
  TransportHandlers,
  TransportRequest,
  WholeAnswer,
} from "../../http/transport/transport.js";
import type { SocketHandler } from "../../http/wire/socket.js";
import { RawConnection } from "../support/raw-connection.js";

/** Creates the transport under test. */
export type CreateTransport = (handlers: TransportHandlers) => Transport;

/**
 * The handlers that a test gives to the transport. If `request` returns an answer and not a promise, the answer is sent
 * in the same tick in which the request arrives.
 */
export interface Behind {
  readonly request?: (request: TransportRequest) => Promise<TransportAnswer> | TransportAnswer;
  readonly upgrade?: TransportHandlers["upgrade"];
}

export function text(body: string, status = 200): WholeAnswer {
  return { status, headers: { "content-type": "text/plain" }, body };
}

/** Returns a socket handler that ignores every event for which `handlers` has no function. */
export function socketHandler(handlers: Partial<SocketHandler>): SocketHandler {
  const nothing = () => undefined;
  return { message: nothing, drained: nothing, closed: nothing, ...handlers };
}

/** Listens on a free port until the test ends. */
export async function listen(
  t: Test,
  create: CreateTransport,
  behind: Behind,
): Promise<{ readonly port: number; readonly transport: Transport; readonly connect: () => Promise<RawConnection> }> {
  const transport = create({
    request: (request, send) => {
      const answer = behind.request?.(request) ?? text("ok");
      if (!(answer instanceof Promise)) return send(answer);
      return answer.catch((error) => text(`the body failed: ${String(error)}`, 400)).then(send);
    },
    upgrade: behind.upgrade ?? (async () => ({ refused: text("no sockets here", 404) })),
    malformed: (problem, status) => text(problem.detail, status),
  });
  const port = await transport.listen("127.0.0.1", 0);
  const open = new Set<RawConnection>();
  t.teardown(async () => {
    for (const connection of open) connection.destroy();
    await transport.close(0);
  });
  return {
    port,
    transport,
    connect: async () => {
      const connection = await RawConnection.open(port);
      open.add(connection);
      return connection;
    },
  };
}

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

/** Makes the transport that is looked at. */
export type CreateTransport = (handlers: TransportHandlers) => Transport;

/** What stands behind the transport in one test. An answer that is no promise is sent in the tick of its request. */
export interface Behind {
  readonly request?: (request: TransportRequest) => Promise<TransportAnswer> | TransportAnswer;
  readonly upgrade?: TransportHandlers["upgrade"];
}

export function text(body: string, status = 200): WholeAnswer {
  return { status, headers: { "content-type": "text/plain" }, body };
}

/** A socket handler that ignores every event without a handler. */
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

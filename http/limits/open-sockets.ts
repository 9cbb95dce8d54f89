import type { Refusal } from "../../actors/refusal.js";
import type { LiveAnswer, LiveConnection, LiveHandler } from "../wire/live-answer.js";
import type { Admitted, Socket, SocketHandler } from "../wire/socket.js";

/** The refusal of a socket or live response beyond the limit of its holder. */
export const TOO_MANY_OPEN: Refusal = {
  refused: "too-many-requests",
  detail: "Too many sockets and event streams are open.",
  retryAfterSeconds: 5,
};

/** Limits the number of open sockets and live responses per holder. */
export class OpenSockets {
  readonly #max: number;
  readonly #open = new Map<string, number>();
  readonly #byPath = new Map<string, number>();

  /** `max` is the limit per holder; 0 for no limit. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Whether the holder may open one more socket or live response. */
  hasCapacity(holder: string): boolean {
    return this.#max === 0 || (this.#open.get(holder) ?? 0) < this.#max;
  }

  /** The number of open sockets and live responses by the path of their route. */
  get byPath(): ReadonlyMap<string, number> {
    return this.#byPath;
  }

  /**
   * Wraps the `open` function of an admitted socket, to count the socket until it closes. `path` is the path of the
   * route.
   */
  counted({ holder, open }: Admitted, path: string): (socket: Socket) => SocketHandler {
    return (socket) => {
      const handler = open(socket);
      this.#add(holder, path);
      return {
        message: (text) => handler.message(text),
        drained: () => handler.drained(),
        closed: () => {
          this.#remove(holder, path);
          handler.closed();
        },
      };
    };
  }

  /** Like {@link counted}, for a live response. */
  countedLive({ holder, open }: LiveAnswer, path: string): (connection: LiveConnection) => LiveHandler {
    return (connection) => {
      const handler = open(connection);
      this.#add(holder, path);
      return {
        drained: () => handler.drained(),
        closed: () => {
          this.#remove(holder, path);
          handler.closed();
        },
      };
    };
  }

  #add(holder: string, path: string): void {
    this.#open.set(holder, (this.#open.get(holder) ?? 0) + 1);
    this.#byPath.set(path, (this.#byPath.get(path) ?? 0) + 1);
  }

  #remove(holder: string, path: string): void {
    this.#byPath.set(path, (this.#byPath.get(path) ?? 1) - 1);
    const left = (this.#open.get(holder) ?? 0) - 1;
    if (left > 0) this.#open.set(holder, left);
    else this.#open.delete(holder);
  }
}

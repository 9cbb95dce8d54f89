import type { Admitted, Socket, SocketHandler } from "../wire/socket.js";

/** Limits the number of open sockets per holder. */
export class OpenSockets {
  readonly #max: number;
  readonly #open = new Map<string, number>();
  readonly #byPath = new Map<string, number>();

  /** `max` is the limit per holder; 0 for no limit. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Whether the holder may open one more socket. */
  hasCapacity(holder: string): boolean {
    return this.#max === 0 || (this.#open.get(holder) ?? 0) < this.#max;
  }

  /** The number of open sockets by the path of their route. */
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
      this.#open.set(holder, (this.#open.get(holder) ?? 0) + 1);
      this.#byPath.set(path, (this.#byPath.get(path) ?? 0) + 1);
      return {
        message: (text) => handler.message(text),
        drained: () => handler.drained(),
        closed: () => {
          this.#close(holder);
          this.#byPath.set(path, (this.#byPath.get(path) ?? 1) - 1);
          handler.closed();
        },
      };
    };
  }

  #close(holder: string): void {
    const left = (this.#open.get(holder) ?? 0) - 1;
    if (left > 0) this.#open.set(holder, left);
    else this.#open.delete(holder);
  }
}

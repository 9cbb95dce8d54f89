import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** The network between a runner and the service, which can be cut or become silent. */
export class Wire {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: "through" | "cut" | "silent" = "through";

  private constructor(toPort: () => number) {
    this.#server = createServer((near) => {
      if (this.#state === "cut") return void near.resetAndDestroy();
      const far = connect(toPort(), "127.0.0.1");
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        socket.on("error", () => undefined);
        socket.once("close", () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
        if (this.#state === "silent") socket.pause();
      }
    });
  }

  static async open(toPort: () => number): Promise<Wire> {
    const wire = new Wire(toPort);
    wire.#server.listen(0, "127.0.0.1");
    await once(wire.#server, "listening");
    return wire;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resets every connection and refuses new ones. */
  cut(): void {
    this.#state = "cut";
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Stops all traffic without notifying either side. */
  silence(): void {
    this.#state = "silent";
    for (const socket of this.#sockets) socket.pause();
  }

  mend(): void {
    this.#state = "through";
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Change } from "../../storage/store.js";

/** An order from the measuring process to a service. The service answers each order. */
export type CreatingOrder =
  /**
   * Opens the service that is built in the checkout `product`; null for this checkout. Answered with {@link Opened}.
   */
  | { readonly do: "open"; readonly product: string | null }
  /** Asks for the CPU time and the commits since the previous `use` or `ask`; answered with {@link Used}. */
  | { readonly do: "use" }
  /** Creates secrets without HTTP for this duration; answered with {@link Used}. */
  | { readonly do: "ask"; readonly durationMs: number; readonly inFlight: number }
  /** Creates a single secret; answered with the changes of its batch. */
  | { readonly do: "show" }
  | { readonly do: "close" };

/** The port, the bearer token and the path for requests that create secrets. */
export interface Opened {
  readonly port: number;
  readonly bearer: string;
  readonly path: string;
}

/** The CPU time of the service's process, and its committed rows and batches. */
export interface Used {
  readonly micros: number;
  readonly creates: number;
  readonly batches: number;
  readonly rows: number;
}

/** A secret as clients create it. */
export const secretNamed = (name: string) => ({ name, value: "0123456789abcdef", valueVersion: 1, hosts: [] });

/** A service in a separate process that handles creates and reports their cost. */
export class CreatingService {
  readonly opened: Opened;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, opened: Opened) {
    this.#process = process;
    this.opened = opened;
  }

  /** Opens the service built in the checkout `product`, or in this checkout if null. */
  static async open(product: string | null): Promise<CreatingService> {
    const process = fork(new URL("./creating-service.js", import.meta.url));
    return new CreatingService(process, await order<Opened>(process, { do: "open", product }));
  }

  use(): Promise<Used> {
    return order(this.#process, { do: "use" });
  }

  ask(durationMs: number, inFlight: number): Promise<Used> {
    return order(this.#process, { do: "ask", durationMs, inFlight });
  }

  show(): Promise<readonly Change[]> {
    return order(this.#process, { do: "show" });
  }

  async close(): Promise<void> {
    await order(this.#process, { do: "close" });
  }
}

async function order<Answer>(process: ChildProcess, what: CreatingOrder): Promise<Answer> {
  process.send(what);
  const [answer] = await once(process, "message");
  return answer;
}

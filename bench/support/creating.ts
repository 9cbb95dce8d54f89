import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Change } from "../../storage/store.js";

/** What the measuring process tells a service; each is answered once. */
export type CreatingOrder =
  /** Opens the service that is built in a checkout, this one's by default; answered with {@link Opened}. */
  | { readonly do: "open"; readonly product: string | null }
  /** Answered with what was used since the order before: {@link Used}. */
  | { readonly do: "use" }
  /** Makes creates without HTTP for so long; answered with {@link Used}. */
  | { readonly do: "ask"; readonly durationMs: number; readonly inFlight: number }
  /** Makes one create, alone; answered with the changes of its batch. */
  | { readonly do: "show" }
  | { readonly do: "close" };

/** How creates are sent to a service. */
export interface Opened {
  readonly port: number;
  readonly bearer: string;
  readonly path: string;
}

/** The processor's time of the service's process, and what it wrote. */
export interface Used {
  readonly micros: number;
  readonly creates: number;
  readonly batches: number;
  readonly rows: number;
}

/** A secret as clients create it. */
export const secretNamed = (name: string) => ({ name, value: "0123456789abcdef", valueVersion: 1, hosts: [] });

/** A service in a process of its own that makes creates, and says what they cost it. */
export class CreatingService {
  readonly opened: Opened;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, opened: Opened) {
    this.#process = process;
    this.opened = opened;
  }

  /** Opens the service that is built in `product`, a checkout, or this one's. */
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

/** Limits on the memory that request bodies use. */
export interface PoolLimits {
  readonly bytes: number;
  /** The reserve: bytes that only clients without any reservation may use. */
  readonly keptBytes: number;
  readonly bytesPerClient: number;
}

/** Maximum size of a small body, in bytes. Almost all bodies are small. */
const SMALL_BYTES = 64 * 1024;
/**
 * Limits of small and long bodies. The limit of one client allows several bodies of the maximum size, or many ordinary
 * bodies.
 */
const SMALL: PoolLimits = { bytes: 64 * 1024 ** 2, keptBytes: 16 * 1024 ** 2, bytesPerClient: 8 * 1024 ** 2 };
const LONG: PoolLimits = { bytes: 256 * 1024 ** 2, keptBytes: 64 * 1024 ** 2, bytesPerClient: 32 * 1024 ** 2 };

/** Which limit a body exceeds: its own client's (`client`), or the limit of the whole process. */
export type Crowd = "client" | "process";

/** The memory that one body reserves. */
export interface BodyHold {
  /**
   * Replaces the body's reservation by one of `bytes` in total. Returns null if that succeeds. Otherwise returns the
   * exceeded limit, and the body then has no reservation.
   */
  hold(bytes: number): Crowd | null;
  /** Releases the whole reservation. */
  end(): void;
}

/**
 * Limits the memory that the bodies of in-flight requests use, so that no client's bodies block those of other clients.
 * A client's requests can be divided into shares.
 *
 * 1. Small and long bodies have separate limits, so long bodies never block small ones.
 * 2. A client has its own limit. A share of a client may use half of that limit. All clients together have a total
 *    limit.
 * 3. When only the reserve (`keptBytes`) is left, clients that already hold bytes get no more. Only clients that hold
 *    no bytes may use the reserve.
 */
export class BodyQuota {
  readonly #small: Pool;
  readonly #long: Pool;

  constructor(small: PoolLimits = SMALL, long: PoolLimits = LONG) {
    this.#small = new Pool(small);
    this.#long = new Pool(long);
  }

  /** Creates an empty reservation for one body of the client, or of a share of the client. */
  enter(client: string, share: string = client): BodyHold {
    let pool = this.#small;
    let reserved = 0;
    const by = share === client ? [client] : [client, share];
    const hold = (bytes: number): Crowd | null => {
      pool.release(by, reserved);
      const next = bytes > SMALL_BYTES ? this.#long : this.#small;
      const crowd = next.take(by, bytes);
      [pool, reserved] = crowd === null ? [next, bytes] : [pool, 0];
      return crowd;
    };
    return {
      hold,
      end: () => {
        pool.release(by, reserved);
        reserved = 0;
      },
    };
  }

  /** Bytes that all bodies hold together. */
  get bytes(): number {
    return this.#small.bytes + this.#long.bytes;
  }
}

class Pool {
  readonly #limits: PoolLimits;
  /** Reserved bytes by client and by share. An entry is removed when its number of bytes reaches 0. */
  readonly #reserved = new Map<string, number>();
  bytes = 0;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  take(by: readonly string[], bytes: number): Crowd | null {
    const { bytes: most, keptBytes, bytesPerClient } = this.#limits;
    const [client = "", share = client] = by;
    if (this.#reservedBy(client) + bytes > bytesPerClient) return "client";
    if (share !== client && this.#reservedBy(share) + bytes > bytesPerClient / 2) return "client";
    const holdsNone = this.#reservedBy(client) === 0;
    if (this.bytes + bytes > (holdsNone ? most : most - keptBytes)) return "process";
    this.bytes += bytes;
    if (bytes > 0) for (const name of by) this.#reserved.set(name, this.#reservedBy(name) + bytes);
    return null;
  }

  release(by: readonly string[], bytes: number): void {
    if (bytes === 0) return;
    this.bytes -= bytes;
    for (const name of by) {
      const left = this.#reservedBy(name) - bytes;
      if (left > 0) this.#reserved.set(name, left);
      else this.#reserved.delete(name);
    }
  }

  #reservedBy(name: string): number {
    return this.#reserved.get(name) ?? 0;
  }
}

import { accountRef } from "../../actors/access/accounts/account.messages.js";
import { findExpiredSession } from "../../actors/access/accounts/session.queries.js";
import { findExpiredToken } from "../../actors/access/tokens/workspace-token.queries.js";
import { workspaceRef } from "../../actors/workspaces/workspace.messages.js";
import type { Runtime } from "../../runtime/runtime.js";

/** Most refused credentials that are remembered; beyond it the oldest is forgotten, which has ended on disk by then. */
const MAX_REMEMBERED = 10_000;

/**
 * Credentials that were refused as expired. They stay so whatever the clock does: at once in this process, and from the
 * turn on that ends them in any.
 */
export class ExpiredCredentials {
  readonly #runtime: Pick<Runtime, "ask" | "reading" | "clock">;
  readonly #hashes = new Set<string>();

  constructor(runtime: Pick<Runtime, "ask" | "reading" | "clock">) {
    this.#runtime = runtime;
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  /** Ends the session of this token hash if that is why it admits nobody. */
  refusedSession(hash: string): void {
    const { reading, clock } = this.#runtime;
    const email = findExpiredSession(reading, hash, clock.now());
    if (email === null) return;
    this.#remember(hash);
    // Without this, as when the process is stopping, it is refused again by its time.
    this.#runtime.ask(accountRef(email), { type: "session.close", sessionHash: hash }).catch(() => undefined);
  }

  /** Ends the token of this hash if that is why it admits nobody. A minted one is removed by its trust. */
  refusedToken(hash: string): void {
    const { reading, clock } = this.#runtime;
    const token = findExpiredToken(reading, hash, clock.now());
    if (token === null) return;
    this.#remember(hash);
    if (token.isMinted) return;
    const { workspaceId, id } = token;
    this.#runtime.ask(workspaceRef(workspaceId), { type: "token.expire", id }).catch(() => undefined);
  }

  /** Remembers the pool token of this hash if that is why it admits nobody. Its trust removes it. */
  refusedPool(hash: string): void {
    const { reading, clock } = this.#runtime;
    if (findExpiredToken(reading, hash, clock.now())?.isMinted === true) this.#remember(hash);
  }

  /** Remembers an expired callback token. Nothing of it is stored, so the next process goes by its time again. */
  refusedCallback(hash: string): void {
    this.#remember(hash);
  }

  #remember(hash: string): void {
    this.#hashes.add(hash);
    const [oldest] = this.#hashes.size > MAX_REMEMBERED ? this.#hashes : [];
    if (oldest !== undefined) this.#hashes.delete(oldest);
  }
}

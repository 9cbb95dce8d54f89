import { accountRef } from "../../actors/access/accounts/account.messages.js";
import { findExpiredSession } from "../../actors/access/accounts/session.queries.js";
import { findExpiredToken } from "../../actors/access/tokens/workspace-token.queries.js";
import { workspaceRef } from "../../actors/workspaces/workspace.messages.js";
import { createRecentEntries } from "../../runtime/recent-entries.js";
import type { Runtime } from "../../runtime/runtime.js";

/**
 * Maximum number of remembered credentials. Above it, the oldest credential is forgotten. What happens to a forgotten
 * credential depends on its kind:
 *
 * - A session, or a workspace token that no trust minted, is still refused, because it was also ended in the store.
 * - For a minted token or a callback token, the service checks the expiry time again.
 */
const MAX_REMEMBERED = 10_000;

/**
 * Credentials that were refused as expired. The service keeps refusing them even if the clock goes back. After a
 * restart, it keeps refusing only the credentials that were also ended in the store.
 */
export class ExpiredCredentials {
  readonly #runtime: Pick<Runtime, "ask" | "reading" | "clock">;
  readonly #hashes = createRecentEntries<true>(MAX_REMEMBERED);

  constructor(runtime: Pick<Runtime, "ask" | "reading" | "clock">) {
    this.#runtime = runtime;
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  /** If the session with this token hash has expired, remembers the hash and ends the session in the store. */
  refusedSession(hash: string): void {
    const { reading, clock } = this.#runtime;
    const email = findExpiredSession(reading, hash, clock.now());
    if (email === null) return;
    this.#remember(hash);
    // Ignore a failed call, for example while the process is stopping. The session then stays in the store, and later
    // requests are refused because of its expiry time.
    this.#runtime.ask(accountRef(email), { type: "session.close", sessionHash: hash }).catch(() => undefined);
  }

  /**
   * If the token with this hash has expired, remembers the hash. Also ends the token in the store, except for a minted
   * token, which its trust removes.
   */
  refusedToken(hash: string): void {
    const { reading, clock } = this.#runtime;
    const token = findExpiredToken(reading, hash, clock.now());
    if (token === null) return;
    this.#remember(hash);
    if (token.isMinted) return;
    const { workspaceId, id } = token;
    this.#runtime.ask(workspaceRef(workspaceId), { type: "token.expire", id }).catch(() => undefined);
  }

  /**
   * If the minted pool token with this hash has expired, remembers the hash. The trust that minted the token removes
   * the token from the store.
   */
  refusedPool(hash: string): void {
    const { reading, clock } = this.#runtime;
    if (findExpiredToken(reading, hash, clock.now())?.isMinted === true) this.#remember(hash);
  }

  /**
   * Remembers the hash of an expired callback token. The store has no record of such tokens, so after a restart the
   * service checks the expiry time again.
   */
  refusedCallback(hash: string): void {
    this.#remember(hash);
  }

  #remember(hash: string): void {
    this.#hashes.set(hash, true);
  }
}

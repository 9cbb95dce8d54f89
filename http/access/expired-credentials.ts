import { accountRef } from "../../actors/access/accounts/account.messages.js";
import { findExpiredSession } from "../../actors/access/accounts/session.queries.js";
import { findExpiredToken } from "../../actors/access/tokens/workspace-token.queries.js";
import { workspaceRef } from "../../actors/workspaces/workspace.messages.js";
import { createRecentEntries } from "../../runtime/recent-entries.js";
import type { Runtime } from "../../runtime/runtime.js";

/**
 * Maximum number of remembered credentials. Above it, the oldest credential is forgotten. The effect depends on its
 * kind:
 *
 * - A session, or a workspace token that no trust minted, is still refused, because it was also ended in the store.
 * - For a minted token or a callback token, the service checks the expiry time again.
 */
const MAX_REMEMBERED = 10_000;

/**
 * Credentials that were refused as expired. They stay refused even if the clock goes back. After a restart, this holds
 * only for credentials that were also ended in the store.
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

  /** Remembers and ends the session with this token hash, if the session has expired. */
  refusedSession(hash: string): void {
    const { reading, clock } = this.#runtime;
    const email = findExpiredSession(reading, hash, clock.now());
    if (email === null) return;
    this.#remember(hash);
    // If the call fails, for example because the process is stopping, the session stays in the store. Later requests
    // are refused because of its expiry time.
    this.#runtime.ask(accountRef(email), { type: "session.close", sessionHash: hash }).catch(() => undefined);
  }

  /**
   * If the token with this hash has expired, remembers and ends the token. Only remembers a minted token, because its
   * trust removes it from the store.
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

  /** If the minted pool token with this hash has expired, remembers it. The token's trust removes it from the store. */
  refusedPool(hash: string): void {
    const { reading, clock } = this.#runtime;
    if (findExpiredToken(reading, hash, clock.now())?.isMinted === true) this.#remember(hash);
  }

  /** Remembers an expired callback token. Nothing about it is stored, so the next process checks its time again. */
  refusedCallback(hash: string): void {
    this.#remember(hash);
  }

  #remember(hash: string): void {
    this.#hashes.set(hash, true);
  }
}

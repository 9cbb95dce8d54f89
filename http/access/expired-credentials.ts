import { accountRef } from "../../actors/access/accounts/account.messages.js";
import { findExpiredSession } from "../../actors/access/accounts/session.queries.js";
import { findExpiredToken } from "../../actors/access/tokens/workspace-token.queries.js";
import { workspaceRef } from "../../actors/workspaces/workspace.messages.js";
import { createRecentEntries } from "../../runtime/recent-entries.js";
import type { Runtime } from "../../runtime/runtime.js";

/**
 * Maximum number of remembered credentials. Beyond it, the oldest is forgotten. A forgotten session, or a workspace
 * token that no trust minted, is still refused, because it was also ended in the store. For minted tokens and callback
 * tokens, the expiry time is checked again.
 */
const MAX_REMEMBERED = 10_000;

/**
 * Credentials that were refused as expired. They stay expired even if the clock goes back. In later processes, this
 * holds only for credentials that a turn has ended in the store.
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

  /** If the session with this token hash has expired, remembers it and ends it. */
  refusedSession(hash: string): void {
    const { reading, clock } = this.#runtime;
    const email = findExpiredSession(reading, hash, clock.now());
    if (email === null) return;
    this.#remember(hash);
    // If this fails, for example because the process is stopping, a later request with the session is refused because
    // of its expiry time.
    this.#runtime.ask(accountRef(email), { type: "session.close", sessionHash: hash }).catch(() => undefined);
  }

  /**
   * If the token with this hash has expired, remembers it and ends it. A minted token is only remembered, because its
   * trust removes it.
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

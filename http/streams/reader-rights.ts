import {
  findIssuedToken,
  hasExpired,
  type IssuedToken,
  isSameToken,
} from "../../actors/access/tokens/workspace-token.queries.js";
import { findReaderRights, findReadWorkspace, type ReaderRights } from "../../actors/access/visibility/audience.js";
import type { Caller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { coveredVersion } from "../../runtime/rows/covered-reading.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Credential } from "../access/authenticate.js";
import type { ExpiredCredentials } from "../access/expired-credentials.js";

/** The reader of a stream: its credential, and the last rights that were read for this credential. */
export interface StreamReader {
  readonly credential: Credential;
  held: CachedRights | null;
}

/** Rights that depend on two rows only. They are valid while these rows are unchanged and the token has not expired. */
interface CachedRights {
  readonly token: CachedRow<IssuedToken>;
  readonly workspace: CachedRow<object>;
  readonly rights: ReaderRights;
}

/**
 * A cached row. `version` is the version of all rows of its kind in the workspace, at the time when the cached row was
 * last compared with the stored row; null if unknown.
 */
interface CachedRow<Row> {
  readonly row: Row;
  version: number | null;
}

export interface RightsOptions {
  readonly runtime: Pick<Runtime, "reading" | "clock">;
  readonly expired: Pick<ExpiredCredentials, "has">;
  readonly findCaller: (credential: Credential) => Caller | Refusal;
}

/**
 * The rights of readers in a workspace at one moment.
 *
 * - The rights of an issued token are cached with the rows of the token and the workspace. They are read again if one
 *   of these rows has become another object. The rows are compared only after a change of the workspace or of its
 *   tokens.
 * - The rights of any other credential are read once for all connections with that credential.
 */
export class RightsNow {
  readonly #options: RightsOptions;
  readonly #workspaceId: string;
  readonly #nowMs: number;
  /**
   * The version of the rows of the workspace's tokens. Below it, the version of the workspace's own row. Null if
   * unknown.
   */
  readonly #tokenVersion: number | null;
  readonly #workspaceVersion: number | null;
  /** The rights that were read, by the credential's hash; null for an invalid credential. */
  readonly #found = new Map<string | null, ReaderRights | null>();

  constructor(options: RightsOptions, workspaceId: string) {
    const { reading, clock } = options.runtime;
    this.#options = options;
    this.#workspaceId = workspaceId;
    this.#nowMs = clock.now();
    this.#tokenVersion = coveredVersion(reading, workspaceId, "workspace-token");
    this.#workspaceVersion = coveredVersion(reading, workspaceId, "workspace");
  }

  /** Returns the reader's rights; null if its credential is no longer valid. */
  find(reader: StreamReader): ReaderRights | null {
    const { held } = reader;
    if (held !== null && this.#isSame(held, reader.credential)) return held.rights;
    return this.#find(reader);
  }

  /** Whether the reader's cached rights are still valid. If not, {@link find} has to read the rights again. */
  holds({ held, credential }: StreamReader): boolean {
    return held !== null && this.#isSame(held, credential);
  }

  #isSame(held: CachedRights, { hash }: Credential): boolean {
    if (held.token.row.workspaceId !== this.#workspaceId) return false;
    if (hash === null || this.#options.expired.has(hash)) return false;
    return this.#isSameWorkspace(held) && this.#isSameToken(held);
  }

  #isSameWorkspace({ workspace }: CachedRights): boolean {
    if (workspace.version !== null && workspace.version === this.#workspaceVersion) return true;
    if (workspace.row !== findReadWorkspace(this.#options.runtime.reading, this.#workspaceId)) return false;
    workspace.version = this.#workspaceVersion;
    return true;
  }

  #isSameToken({ token }: CachedRights): boolean {
    if (token.version !== null && token.version === this.#tokenVersion) return !hasExpired(token.row, this.#nowMs);
    if (!isSameToken(this.#options.runtime.reading, token.row, this.#nowMs)) return false;
    token.version = this.#tokenVersion;
    return true;
  }

  #find(reader: StreamReader): ReaderRights | null {
    const { hash } = reader.credential;
    const known = this.#found.get(hash);
    if (known !== undefined) return known;
    const { runtime, findCaller } = this.#options;
    const caller = findCaller(reader.credential);
    const rights = isRefusal(caller) ? null : findReaderRights(runtime.reading, caller, this.#workspaceId);
    reader.held = rights === null || isRefusal(caller) ? null : this.#hold(caller, rights);
    if (reader.held === null) this.#found.set(hash, rights);
    return rights;
  }

  #hold(caller: Caller, rights: ReaderRights): CachedRights | null {
    if (caller.kind !== "token" || caller.workspaceId !== this.#workspaceId) return null;
    const { reading } = this.#options.runtime;
    const token = findIssuedToken(reading, caller);
    const workspace = findReadWorkspace(reading, this.#workspaceId);
    if (token === undefined || workspace === undefined) return null;
    return {
      token: { row: token, version: this.#tokenVersion },
      workspace: { row: workspace, version: this.#workspaceVersion },
      rights,
    };
  }
}

/** Whether the reader's cached rights are known to be still valid. Does not look up the credential. */
export function isStillAdmitted(options: RightsOptions, reader: StreamReader): boolean {
  const { held } = reader;
  return held !== null && new RightsNow(options, held.token.row.workspaceId).holds(reader);
}

import { findReaderRights, findReadWorkspace, type ReaderRights } from "../../actors/access/audience.js";
import {
  findIssuedToken,
  hasExpired,
  type IssuedToken,
  isSameToken,
} from "../../actors/access/workspace-token.queries.js";
import type { Caller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { coveredVersion } from "../../runtime/covered-reading.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { ExpiredCredentials } from "../access/expired-credentials.js";
import type { Credential } from "../authenticate.js";

/** The reader behind a socket: its credential, and what was found of it last. */
export interface StreamReader {
  readonly credential: Credential;
  held: HeldRights | null;
}

/** Rights that follow from two rows alone, so that they are the same as long as those are. */
interface HeldRights {
  /** The version of the workspace's tokens at which the token's row was seen last. */
  version: number | null;
  readonly token: IssuedToken;
  readonly workspace: object;
  readonly rights: ReaderRights;
}

export interface RightsOptions {
  readonly runtime: Pick<Runtime, "reading" | "clock">;
  readonly expired: Pick<ExpiredCredentials, "has">;
  readonly findCaller: (credential: Credential) => Caller | Refusal;
}

/**
 * The rights of readers in a workspace at one moment. Those of an issued token are found anew only when its row or the
 * workspace's is another than before, which is looked at only after a change of the workspace's tokens; those of any other
 * credential are found once for all sockets that were opened with it.
 */
export class RightsNow {
  readonly #options: RightsOptions;
  readonly #workspaceId: string;
  readonly #workspace: object | undefined;
  readonly #nowMs: number;
  /** Of the workspace's tokens; null where it is not known. */
  readonly #version: number | null;
  /** By hash of the credential; null for one that is over. */
  readonly #found = new Map<string | null, ReaderRights | null>();

  constructor(options: RightsOptions, workspaceId: string) {
    const { reading, clock } = options.runtime;
    this.#options = options;
    this.#workspaceId = workspaceId;
    this.#workspace = findReadWorkspace(reading, workspaceId);
    this.#nowMs = clock.now();
    this.#version = coveredVersion(reading, workspaceId, "workspace-token");
  }

  /** The reader's rights; null when their credential is over. */
  of(reader: StreamReader): ReaderRights | null {
    const { held } = reader;
    if (held !== null && this.#isSame(held, reader.credential)) return held.rights;
    return this.#find(reader);
  }

  #isSame(held: HeldRights, { hash }: Credential): boolean {
    const { token, workspace, version } = held;
    if (workspace !== this.#workspace || hash === null || this.#options.expired.has(hash)) return false;
    if (version !== null && version === this.#version) return !hasExpired(token, this.#nowMs);
    if (!isSameToken(this.#options.runtime.reading, token, this.#nowMs)) return false;
    held.version = this.#version;
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

  #hold(caller: Caller, rights: ReaderRights): HeldRights | null {
    if (caller.kind !== "token" || caller.workspaceId !== this.#workspaceId) return null;
    const token = findIssuedToken(this.#options.runtime.reading, caller);
    if (token === undefined || this.#workspace === undefined) return null;
    return { version: this.#version, token, workspace: this.#workspace, rights };
  }
}

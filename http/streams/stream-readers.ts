import type { StreamTopic } from "../../actors/access/visibility/stream-topic.js";
import type { Caller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { Runtime } from "../../runtime/runtime.js";
import { type Credential, findCaller, readCredential } from "../access/authenticate.js";
import type { ExpiredCredentials } from "../access/expired-credentials.js";
import { RateLimit } from "../limits/rate-limit.js";
import type { CallerNow, Credentials } from "../transport/entry.js";
import { Announcements } from "./announcements.js";
import { Backlogs } from "./backlogs.js";
import { isStillAdmitted, type StreamReader } from "./reader-rights.js";
import type { ReaderOptions } from "./topic-stream.js";

/**
 * The path of all streams. A request with the headers of an upgrade gets a WebSocket; any other request gets
 * server-sent events.
 */
export const STREAM_PATH = "/api/stream";

/**
 * Limits on subscriptions: the rate per second, and the maximum burst. Each limit applies to all connections of one
 * user or token together. Subscriptions are limited, because each one may cost as much as a request.
 */
const SUBSCRIPTIONS_A_SECOND = 200;
const SUBSCRIPTIONS_AT_ONCE = 4_000;

const NO_CALLER: Refusal = {
  refused: "unauthenticated",
  detail: "This endpoint requires a signed-in user or a token.",
};

export interface StreamOptions {
  /** The topics by their kind, the first part of `<kind>/<id>`. */
  readonly topics: ReadonlyMap<string, StreamTopic>;
  readonly runtime: Runtime;
  readonly callerOf: (credentials: Credentials) => CallerNow;
  readonly expired: ExpiredCredentials;
}

/** A request that may read streams, with its caller. */
export interface AdmittedReader {
  readonly caller: Caller;
  readonly options: ReaderOptions;
}

/**
 * Admits the readers of streams, through WebSockets and through server-sent events. The limits apply to both together,
 * and each message is encoded once for both.
 */
export class StreamReaders {
  readonly topics: ReadonlyMap<string, StreamTopic>;
  readonly runtime: Runtime;
  readonly #callerOf: StreamOptions["callerOf"];
  readonly #expired: ExpiredCredentials;
  readonly #announcements: Announcements;
  readonly #rate: RateLimit;
  readonly #backlogs = new Backlogs();

  constructor({ topics, runtime, callerOf, expired }: StreamOptions) {
    const { clock } = runtime;
    this.topics = topics;
    this.runtime = runtime;
    this.#callerOf = callerOf;
    this.#expired = expired;
    this.#announcements = new Announcements(this.#rights());
    this.#rate = new RateLimit({ max: SUBSCRIPTIONS_A_SECOND, perMs: 1_000, burst: SUBSCRIPTIONS_AT_ONCE, clock });
  }

  /**
   * Admits a request with a valid credential. The request counts as a write, so only the service's own pages may send
   * it with a session cookie. Otherwise a page of another host could open a stream with a person's cookie.
   */
  admit(request: Pick<Credentials, "header">): AdmittedReader | Refusal {
    const caller = this.#callerOf({ method: "POST", header: (name) => request.header(name) })();
    const credential = readCredential(request);
    if (caller === null || credential === null) return NO_CALLER;
    return isRefusal(caller) ? caller : { caller, options: this.#toOptions(caller, credential) };
  }

  #toOptions(caller: Caller, credential: Credential): ReaderOptions {
    const rights = this.#rights();
    return {
      runtime: this.runtime,
      topics: this.topics,
      announcements: this.#announcements,
      rate: this.#rate,
      backlogs: this.#backlogs,
      holder: caller.kind === "person" ? caller.userId : caller.tokenId,
      credential,
      isStillAdmitted: (reader: StreamReader) => isStillAdmitted(rights, reader),
      findCaller: () => rights.findCaller(credential),
    };
  }

  #rights() {
    const { runtime } = this;
    const expired = this.#expired;
    return { runtime, expired, findCaller: (credential: Credential) => findCaller(credential, runtime, expired) };
  }
}

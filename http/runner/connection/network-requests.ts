import { isIP } from "node:net";
import { isCloudService, type Resolve, resolveWithSystem } from "../../../actors/outbound/http/address-guard.js";
import type { AllowList } from "../../../actors/outbound/http/allow-list.js";
import { toFailure } from "../../../actors/outbound/http/failure.js";
import { createOutbound, RequestRefused } from "../../../actors/outbound/http/request.js";
import { MAX_ANSWER_BYTES, type RunnerFrame, type ServiceFrame } from "../../../actors/runners/protocol.js";

type Request = Extract<ServiceFrame, { frame: "request" }>;
type Response = Extract<RunnerFrame, { frame: "response" }>;

/** Maximum length of each text in a response, in characters. The body has a separate limit. */
const MAX_WORDS = 1_000;

const FORBIDDEN = "a cloud metadata address, which only this host may use";

/** Makes requests for the service to hosts that the runner can reach. */
export interface Requests {
  /** Never rejects: it reports a failure as a response. */
  make(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Creates requests that may go to any host, including the runner's own network. Cloud metadata services are blocked,
 * because they hand out this host's credentials. The requests follow no redirects, and ignore proxies from the
 * environment.
 */
export function createRequests(): Requests {
  const outbound = createOutbound({ allowList: everywhere, resolve, maxBodyBytes: MAX_ANSWER_BYTES });
  const { signal } = new AbortController();
  return {
    make: async ({ id, url, headers, body, timeoutMs, maxBodyBytes = MAX_ANSWER_BYTES }) => {
      try {
        const {
          retryAfter,
          unread = null,
          ...answer
        } = await outbound.post({
          url: new URL(url),
          headers,
          body,
          timeoutMs,
          signal,
          maxBodyBytes,
        });
        const asked = retryAfter?.slice(0, MAX_WORDS) ?? null;
        return { frame: "response", id, answer: { ...answer, retryAfter: asked, unread }, failure: null };
      } catch (error) {
        const { code, reason } = toFailure(error);
        return { frame: "response", id, answer: null, failure: { code, reason: reason.slice(0, MAX_WORDS) } };
      }
    },
    close: () => outbound.close(),
  };
}

const everywhere: AllowList = {
  admits: ({ protocol, hostname, username, password }) => {
    if (username !== "" || password !== "") return { admitted: false, reason: "holds credentials" };
    if (protocol !== "http:" && protocol !== "https:") return { admitted: false, reason: "must be http or https" };
    const host = hostname.replace(/^\[|\]$/g, "");
    return isIP(host) !== 0 && isCloudService(host)
      ? { admitted: false, reason: `${host} is ${FORBIDDEN}` }
      : { admitted: true, admitsPrivate: true };
  },
};

const resolve: Resolve = async (host) => {
  const addresses = await resolveWithSystem(host);
  const refused = addresses.find(isCloudService);
  if (refused !== undefined) throw new RequestRefused(`${host} resolves to ${refused}, ${FORBIDDEN}`);
  return addresses;
};

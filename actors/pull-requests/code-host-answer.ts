import type { Effect } from "../../runtime/cells/actor-type.js";
import type { EffectType } from "../../runtime/effects/effect-type.js";
import type { LaneLimits } from "../../runtime/effects/lane.js";
import type { EffectEnded } from "../../runtime/turns/turn.js";
import type { CodeHost } from "../outbound/code-host/code-host.js";
import { CodeHostRefused } from "../outbound/code-host/code-host-requests.js";

/** The reason why the code host did not do what the service requested. */
export type CodeHostProblem =
  /** The code host's rate limit is exceeded until this time, in milliseconds since 1970. */
  | { readonly problem: "limited"; readonly untilMs: number; readonly why: string }
  /**
   * The code host did not answer, or its answer does not settle the request, such as an internal error. The result of
   * the request is unknown.
   */
  | { readonly problem: "again"; readonly why: string }
  /** The code host refused the request. `fields` are the request's refused fields, if the code host names any. */
  | { readonly problem: "refused"; readonly why: string; readonly fields?: readonly string[] };

/** Sends a request to the code host. If the code host refuses the request, returns the refusal as an answer. */
export async function askHost<Answer>(
  codeHost: CodeHost | null,
  host: string,
  ask: (codeHost: CodeHost) => Promise<Answer>,
): Promise<Answer | CodeHostProblem> {
  if (codeHost?.name !== host)
    return { problem: "refused", why: `${host} is no longer the code host of this service.` };
  try {
    return await ask(codeHost);
  } catch (error) {
    if (!(error instanceof CodeHostRefused)) throw error;
    return toProblem(error);
  }
}

/**
 * Builds an effect that sends a request to the code host. The lane limits the concurrent effects of each installation.
 */
export function hostEffect<Input extends Asked, Answer>(
  type: EffectType<Input, Answer | CodeHostProblem>,
  lane: LaneLimits,
  codeHost: CodeHost | null,
  ask: (codeHost: CodeHost, input: Input) => Promise<Answer | CodeHostProblem>,
): Effect {
  return type.implement(
    lane,
    (input) => askHost(codeHost, input.host, (host) => ask(host, input)),
    ({ host, installationId }) => `${host} ${installationId}`,
  );
}

interface Asked {
  readonly host: string;
  readonly installationId: number;
}

/** Converts an effect's result to an answer. A failed effect counts as a request without an answer. */
export function toHostAnswer<Answer>(result: EffectEnded<Answer>["result"]): Answer | CodeHostProblem {
  return result.ok ? result.output : { problem: "again", why: "The request to the code host failed." };
}

function toProblem({ message: why, status, retryAtMs, fields }: CodeHostRefused): CodeHostProblem {
  if (retryAtMs !== null) return { problem: "limited", untilMs: retryAtMs, why };
  // Do not retry a redirect that was not followed: a retry would get the same redirect.
  const isRefused = status !== null && status >= 300 && status < 500 && status !== 408 && status !== 401;
  return isRefused ? { problem: "refused", why, ...(fields.length > 0 && { fields }) } : { problem: "again", why };
}

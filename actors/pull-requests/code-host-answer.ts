import type { Effect } from "../../runtime/actor-type.js";
import type { EffectType } from "../../runtime/effect-type.js";
import type { LaneLimits } from "../../runtime/lane.js";
import type { EffectEnded } from "../../runtime/turn.js";
import type { CodeHost } from "../outbound/code-host.js";
import { CodeHostRefused } from "../outbound/code-host-requests.js";

/** Why the code host did not do what it was asked. */
export type CodeHostProblem =
  /** It takes no more until then, in milliseconds since 1970. */
  | { readonly problem: "limited"; readonly untilMs: number; readonly why: string }
  /** It did not answer, or with a fault of its own: nobody knows what it did. */
  | { readonly problem: "again"; readonly why: string }
  /** It will not. `fields` are those of the request that it refused, as far as it names them. */
  | { readonly problem: "refused"; readonly why: string; readonly fields?: readonly string[] };

/** Asks the code host; a refusal of it is an answer. */
export async function askHost<Answer>(
  codeHost: CodeHost | null,
  host: string,
  ask: (codeHost: CodeHost) => Promise<Answer>,
): Promise<Answer | CodeHostProblem> {
  if (codeHost?.name !== host)
    return { problem: "refused", why: `${host} is not set up as the code host here any more.` };
  try {
    return await ask(codeHost);
  } catch (error) {
    if (!(error instanceof CodeHostRefused)) throw error;
    return toProblem(error);
  }
}

/** An effect that asks the code host. Those of one installation wait for each other in the lane. */
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

/** What came of asking: an effect that failed has asked nothing that is known of. */
export function toHostAnswer<Answer>(result: EffectEnded<Answer>["result"]): Answer | CodeHostProblem {
  return result.ok ? result.output : { problem: "again", why: "The code host could not be asked." };
}

function toProblem({ message: why, status, retryAtMs, fields }: CodeHostRefused): CodeHostProblem {
  if (retryAtMs !== null) return { problem: "limited", untilMs: retryAtMs, why };
  // A redirect that is not followed leads to the same place each time.
  const isRefused = status !== null && status >= 300 && status < 500 && status !== 408 && status !== 401;
  return isRefused ? { problem: "refused", why, ...(fields.length > 0 && { fields }) } : { problem: "again", why };
}

import { forbiddenTitle } from "../access/visibility/permissions.js";
import type { Refusal } from "../refusal.js";

/**
 * Refusals of requests about code host connections (see "Errors" in the configuration API document). `host` is the code
 * host's name.
 */

/** The caller is not an owner or admin of the workspace. */
export function notAWorkspaceAdministrator(host: string): Refusal {
  return {
    refused: "forbidden",
    title: forbiddenTitle("administer", "workspace"),
    detail: `Only an owner or an admin of this workspace can connect it to ${host} or disconnect it.`,
    permission: "administer",
  };
}

/** The caller does not administer the installation. The same refusal applies if the installation does not exist. */
export function notAnAdministratorThere(host: string): Refusal {
  return {
    refused: "forbidden",
    title: `Not an administrator on ${host}`,
    detail: `You do not administer this installation on ${host}. An active admin of its organisation, or the person whose account it is on, can connect it.`,
  };
}

/** The code host does not confirm that the caller administers the installation. */
export function notConfirmed(host: string): Refusal {
  return {
    refused: "forbidden",
    title: `Not confirmed by ${host}`,
    detail: `${host} cannot confirm that you administer this installation. Please sign in there again.`,
  };
}

/** The installation belongs to another workspace. */
export function connectedElsewhere(host: string): Refusal {
  return {
    refused: "conflict",
    detail: `This installation on ${host} is connected to another workspace. Please disconnect it there first.`,
  };
}

/** No code host is configured. */
export const notSetUp: Refusal = {
  refused: "conflict",
  detail: "No code host is configured. The operator of this service must set CODE_HOST_URL and its related settings.",
};

/** Maximum rate of requests to the code host, for each user or token. */
export const ASKING_RATE = { max: 60, perMs: 60_000, burst: 60 } as const;

/** The caller has sent more requests to the code host than {@link ASKING_RATE} allows. */
export function askedTooOften(retryAfterSeconds: number): Refusal {
  return {
    refused: "too-many-requests",
    detail: "You sent too many requests to the code host. Try again later.",
    retryAfterSeconds,
  };
}

/** The code host did not respond in time. */
export function notAnswered(host: string): Refusal {
  return { refused: "refused-upstream", detail: `${host} took too long to answer.` };
}

import { type CodeHost, type HostedRepository, REPOSITORIES_ON_PAGE } from "../outbound/code-host/code-host.js";
import { CodeHostRefused } from "../outbound/code-host/code-host-requests.js";
import type { Refusal } from "../refusal.js";
import type { CodeHostConnection } from "./connection.js";
import { notSetUp } from "./refusals.js";

/**
 * Returns the configured code host, if the connection is on this host and in state `connected`; otherwise a refusal.
 * `codeHost` is null if the deployment has none.
 */
export function findConfiguredHost({ host, state }: CodeHostConnection, codeHost: CodeHost | null): CodeHost | Refusal {
  if (codeHost === null) return notSetUp;
  if (codeHost.name !== host) {
    return {
      refused: "conflict",
      detail: `${host} is not the code host of this service. The configured code host is ${codeHost.name}.`,
    };
  }
  if (state !== "connected") return { refused: "conflict", detail: `This installation is ${state} on ${host}.` };
  return codeHost;
}

/** A page of the repositories that an installation reaches. */
export interface HostedRepositoryPage {
  readonly items: readonly HostedRepository[];
  /** The number of the next page; null on the last page. */
  readonly next: number | null;
}

/**
 * Lists one page of the repositories that an installation currently reaches. The number of the first page is 1. If the
 * code host refuses the request, the refusal contains the code host's message.
 */
export async function listHostedRepositories(
  codeHost: CodeHost,
  { installationId }: CodeHostConnection,
  page: number,
): Promise<HostedRepositoryPage | Refusal> {
  try {
    const { items, total } = await codeHost.repositories(installationId, page);
    return { items, next: page * REPOSITORIES_ON_PAGE < total ? page + 1 : null };
  } catch (error) {
    if (error instanceof CodeHostRefused) return { refused: "refused-upstream", detail: error.message };
    throw error;
  }
}

import { type CodeHost, type HostedRepository, REPOSITORIES_ON_PAGE } from "../outbound/code-host.js";
import { CodeHostRefused } from "../outbound/code-host-requests.js";
import type { Refusal } from "../refusal.js";
import type { CodeHostConnection } from "./connection.table.js";
import { notSetUp } from "./refusals.js";

/** The code host that a connection's repositories are asked of, or why there is none; null is one that is not set up. */
export function findHostOf({ host, state }: CodeHostConnection, codeHost: CodeHost | null): CodeHost | Refusal {
  if (codeHost === null) return notSetUp;
  if (codeHost.name !== host) {
    return {
      refused: "conflict",
      detail: `${host} is not the code host that is set up here: that is ${codeHost.name}.`,
    };
  }
  if (state !== "connected") return { refused: "conflict", detail: `This installation is ${state} on ${host}.` };
  return codeHost;
}

/** Repositories that an installation reaches. */
export interface HostedRepositoryPage {
  readonly items: readonly HostedRepository[];
  /** The number of the next page, or null. */
  readonly next: number | null;
}

/** A page of what an installation reaches, from 1, as the code host tells it now; refused in its words. */
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

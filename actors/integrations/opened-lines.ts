import type { Reading } from "../../storage/store.js";
import { pathText } from "../refusal.js";
import type { ResourceUser } from "../resources/kind.js";
import { expectResource, listAddresses, type ResourceRow } from "../resources/resource.table.js";
import type { IntegrationFields } from "./definition.js";
import type { IntegrationEvent } from "./events.js";

/** A line, by its key, on which an integration opens tasks. */
export interface OpenedLine {
  /** Path of the field in the integration. */
  readonly path: string;
  readonly line: string;
  /** Key of the station; null for the route's station or the line's first station. */
  readonly station: string | null;
}

/** Lists the lines that an integration opens tasks on. A listed line may not exist. */
export function listOpenedLines({ webhook, poll }: IntegrationFields): readonly OpenedLine[] {
  return [
    ...openings(webhook?.events ?? [], "webhook"),
    ...openings(poll?.events ?? [], "poll"),
    ...Object.entries(webhook?.route?.to ?? {}).map(([name, { line, station }]) => ({
      path: pathText(["webhook", "route", "to", name, "line"]),
      line,
      station,
    })),
  ];
}

function openings(events: readonly IntegrationEvent[], block: string): OpenedLine[] {
  return events.flatMap(({ raise: { opens } }, index) =>
    opens === null || opens.line === null
      ? []
      : [{ path: `${block}.events[${index}].raise.opens.line`, line: opens.line, station: opens.station }],
  );
}

/**
 * Lists at most `limit` integrations of a line's team that open tasks on the line, ordered by address. Reads the
 * integrations of the team one by one: there is no index, because an integration may name a line before the line
 * exists.
 */
export function listOpeningIntegrations(
  { workspaceId, address }: Pick<ResourceRow, "workspaceId" | "address">,
  reading: Reading,
  limit: number,
): readonly ResourceUser[] {
  const slash = address.indexOf("/");
  const key = address.slice(slash + 1);
  const users: ResourceUser[] = [];
  for (const { address: user, id } of listAddresses(reading, workspaceId, "integration", {
    under: address.slice(0, slash),
  })) {
    if (users.length >= limit) break;
    const { fields } = expectResource<IntegrationFields>(reading, workspaceId, "integration", id);
    const opens = listOpenedLines(fields).some(({ line }) => line === key);
    if (opens) users.push({ kind: "integration", address: user });
  }
  return users;
}

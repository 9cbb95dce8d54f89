import type { Reading } from "../../../storage/store.js";
import type { VisibleIntegration } from "../../integrations/connection.queries.js";
import type { Refusal } from "../../refusal.js";
import type { Cursor, Slice } from "../../tables/page-source.js";
import type { ActionRunRow, ActionRunState } from "./action-run.js";
import { actionRuns, findActionRun } from "./action-run.table.js";

/** The filter and limits of a page of action runs. */
export interface ActionRunPage {
  readonly state?: ActionRunState | undefined;
  /** Only runs with an id before this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Lists an integration's action runs, newest first. The returned function reads one slice of the page. */
export function listActionRuns(
  { workspaceId, id: integrationId }: VisibleIntegration,
  { state, before, limit }: ActionRunPage,
): (reading: Reading, cursor: Cursor<ActionRunRow> | null) => Slice<ActionRunRow> {
  const place = before === undefined ? undefined : [before];
  return (reading, cursor) =>
    actionRuns.page(reading, workspaceId, { integrationId, state }, { before: place, limit, cursor });
}

/** Finds the integration's run with this id, or returns the refusal `not-found`. */
export function findIntegrationRun(
  reading: Reading,
  { workspaceId, id: integrationId }: VisibleIntegration,
  id: string,
): ActionRunRow | Refusal {
  return findActionRun(reading, workspaceId, integrationId, id) ?? { refused: "not-found" };
}

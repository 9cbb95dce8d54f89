import type { Reading } from "../../storage/store.js";
import type { VisibleIntegration } from "../integrations/connection.queries.js";
import type { Refusal } from "../refusal.js";
import type { Cursor, Slice } from "../tables/page-source.js";
import type { ActionRunRow, ActionRunState } from "./action-run.js";
import { actionRuns, findActionRun } from "./action-run.table.js";

/** Which of an integration's runs a page has. */
export interface ActionRunPage {
  readonly state?: ActionRunState | undefined;
  /** Only runs before this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A page of an integration's runs of actions, newest first: a function that reads a slice of it. */
export function listActionRuns(
  { workspaceId, id: integrationId }: VisibleIntegration,
  { state, before, limit }: ActionRunPage,
): (reading: Reading, cursor: Cursor<ActionRunRow> | null) => Slice<ActionRunRow> {
  const place = before === undefined ? undefined : [before];
  return (reading, cursor) =>
    actionRuns.page(reading, workspaceId, { integrationId, state }, { before: place, limit, cursor });
}

/** The integration's run of this id; refused `not-found` where it has none. */
export function findRunOf(
  reading: Reading,
  { workspaceId, id: integrationId }: VisibleIntegration,
  id: string,
): ActionRunRow | Refusal {
  return findActionRun(reading, workspaceId, integrationId, id) ?? { refused: "not-found" };
}

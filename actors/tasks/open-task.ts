import type { Reading } from "../../storage/store.js";
import type { VisibleTeam } from "../access/team.queries.js";
import { refuseTeamWork } from "../access/team-work.js";
import type { PersonCaller } from "../caller.js";
import type { LineFields } from "../lines/line.js";
import { findStation } from "../lines/line.queries.js";
import { invalid, type Refusal } from "../refusal.js";
import { findResourceAt } from "../resources/resource.table.js";
import type { OpenTask } from "./task.messages.js";

/** A request to open a task. */
export interface WantedTask extends Pick<OpenTask, "title" | "description" | "url" | "station"> {
  /** The line's key. */
  readonly line: string;
  /** User id, null for nobody; by default the person who opens it. */
  readonly assignee?: string | null | undefined;
}

/** The message that opens the task; refused for people who are not on the team, and for an unknown line or station. */
export function toOpenTask(
  reading: Reading,
  caller: PersonCaller,
  team: VisibleTeam,
  wanted: WantedTask,
): OpenTask | Refusal {
  const refused = refuseTeamWork(reading, caller, team);
  if (refused !== null) return refused;
  const { workspaceId, teamId, teamKey } = team;
  const { title, description, url, station } = wanted;
  const line = findResourceAt<LineFields>(reading, workspaceId, "line", `${teamKey}/${wanted.line}`);
  if (line === undefined) return invalid("line", `there is no line ${wanted.line}`);
  if (station !== null && findStation(line.fields, station) === undefined) {
    return invalid("station", `there is no station ${station}`);
  }
  const assignee = wanted.assignee === undefined ? caller.userId : wanted.assignee;
  return {
    type: "task.open",
    ...{ teamId, lineId: line.id, title, description, url, station, assignee, by: caller.userId },
  };
}

import { rowSpace } from "../../storage/keys.js";
import { eachRow, putRow, type RowLocation } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";
import type { Change } from "../../storage/store.js";
import { splitWords } from "../tables/words.js";

interface OldTask {
  readonly id: string;
  readonly title: string;
  readonly teamId: string;
}

interface OldPullRequest extends OldTask {
  readonly number: number | null;
}

interface OldResource {
  readonly id: string;
  readonly kind: string;
  readonly teamId: string | null;
  readonly address: string;
  readonly fields: {
    readonly key?: string;
    readonly name?: string;
    readonly stations?: readonly { readonly id: string; readonly key: string; readonly name: string }[];
  };
}

interface OldDecision {
  readonly taskId: string;
  readonly teamId: string;
}

/** An entry of a new title index. */
interface NewTitle {
  readonly kind: string;
  readonly title: string;
  readonly teamId: string | null;
  readonly also?: string;
  readonly address?: string;
}

const titledByName: readonly string[] = ["team", "line", "integration", "skill"];
const titledByKey: readonly string[] = ["hook", "harness-profile"];

/**
 * Indexes titles by their words. Also indexes the parts of objects, such as stations, by their ids. Each step only
 * writes new entries.
 */
export const titleWalks: readonly Walk[] = [
  eachRow<OldResource>("resource", (row, place) => {
    const { id, kind, address, fields } = row;
    const teamId = kind === "team" ? id : row.teamId;
    const own = titledByName.includes(kind) ? fields.name : titledByKey.includes(kind) ? fields.key : undefined;
    const also = address.slice(address.lastIndexOf("/") + 1);
    const stations = kind === "line" ? (fields.stations ?? []) : [];
    return [
      ...(own === undefined
        ? []
        : putTitle(place, at("resource-title", "", id), { kind, title: own, teamId, also, address })),
      ...stations.flatMap(({ id: part, key, name: title }) => [
        ...putTitle(place, at("resource-title", "", part), { kind: "station", title, teamId, also: key, address }),
        putRow(place, "resource-part", [part], { kind, id }),
      ]),
    ];
  }),
  eachRow<OldTask>("task", ({ id, title, teamId }, place) =>
    putTitle(place, at("task-title", "", id), { kind: "task", title, teamId }),
  ),
  eachRow<OldPullRequest>("pull-request", ({ id, title, teamId, number }, place) => {
    const also = number === null ? {} : { also: `#${number}` };
    return putTitle(place, at("pull-request-title", teamId, id), { kind: "pull-request", title, teamId, ...also });
  }),
  eachRow<unknown>("tool-call", (_row, place) => [putPart(place, "tool-call-run")]),
  eachRow<unknown>("task-attachment", (_row, place) => [putPart(place, "attachment-task")]),
  eachRow<OldDecision>("decision-standing", ({ taskId, teamId }, place) => [
    putRow(place, "decision-task", [String(place.id.at(-1))], { taskId, teamId }),
  ]),
];

interface TitleLocation {
  readonly index: string;
  readonly scope: string;
  readonly id: string;
}

function at(index: string, scope: string, id: string): TitleLocation {
  return { index, scope, id };
}

function putTitle(place: RowLocation, { index, scope, id }: TitleLocation, titled: NewTitle): Change[] {
  const words = splitWords(`${titled.title} ${titled.also ?? ""}`);
  return words.map((word) => putRow(place, index, [scope, word, id], titled));
}

/**
 * Writes the index entry of a part from a row with the key `[holder, part]`. The entry has the key `[part]` and the
 * holder as value.
 */
function putPart(place: RowLocation, index: string): Change {
  const [holder = "", part = ""] = place.id;
  return { op: "put", key: [place.partition, rowSpace, index, part], value: holder };
}

import type { Reading } from "../../storage/store.js";
import type { Kind, TextFolder } from "../resources/kind.js";
import { addressPages, expectResource, type ResourceRow } from "../resources/resource.table.js";
import { getTeamKey } from "../resources/resource-indexes.table.js";
import { type Entries, writeBlocks } from "./hcl.js";
import { byCodeUnits, inPathOrder } from "./path-order.js";
import { blockName, type ExportedResource, exportResource, filesIn, resourceType } from "./resource-block.js";

/** A piece of an exported file. The pieces of one file are consecutive. */
export interface FilePiece {
  readonly path: string;
  readonly text: string;
}

const MAIN = "main.tf";
const VARIABLES = "variables.tf";

/** Number of addresses to read at once. */
const PAGE = 100;
/** The limits of a step: resources read, characters written. */
const STEP = { resources: 50, characters: 32 * 1024 };

/** The input of all parts of one export. */
interface Source {
  readonly reading: Reading;
  readonly workspace: ResourceRow;
  /** The exported kinds in catalogue order, and each kind's position in this order. */
  readonly kinds: readonly Kind[];
  readonly places: ReadonlyMap<string, number>;
}

/**
 * Exports a whole workspace as an HCL module, file by file in path order. `main.tf` has every exported resource with
 * its import block, in catalogue order of the kinds and address order of the resources. `variables.tf` has the
 * variables for write-only fields. `main.tf` reads the other files. The pieces depend only on the contents, not on the
 * order in which resources were created.
 *
 * Each step does little work and yields at most a few pieces, so that other work can run in between. At any time,
 * memory holds only the pieces of one step and one resource. `reading` must not change until the end.
 *
 * A resource refers to resources of earlier kinds by expressions. It refers to any other resource by its key, because a
 * module may have no cycles.
 */
export function* exportWorkspace(
  reading: Reading,
  all: readonly Kind[],
  workspace: ResourceRow,
): Generator<readonly FilePiece[]> {
  const kinds = all.filter((kind) => kind.hcl !== null);
  const source: Source = {
    reading,
    workspace,
    kinds,
    places: new Map(kinds.map(({ name }, location) => [name, location])),
  };
  const withHidden = kinds.filter(({ hidden }) => hidden.length > 0);
  const parts: { readonly path: string; readonly pieces: () => Iterable<FilePiece | null> }[] = [
    { path: MAIN, pieces: () => blocksFile(MAIN, source, kinds, ({ blocks }) => blocks) },
    { path: VARIABLES, pieces: () => blocksFile(VARIABLES, source, withHidden, ({ variables }) => variables) },
    ...kinds.flatMap((kind) =>
      (kind.hcl?.folders ?? []).map((folder) => ({
        path: `${folder.folder}/`,
        pieces: () => textFiles(source, kind, folder),
      })),
    ),
  ];
  for (const { pieces } of parts.sort((left, right) => byCodeUnits(left.path, right.path))) yield* inSteps(pieces());
}

/**
 * Yields a file with the blocks of all resources of these kinds, separated by an empty line. For a resource without
 * such blocks, yields null.
 */
function* blocksFile(
  path: string,
  source: Source,
  kinds: readonly Kind[],
  listBlocks: (resource: ExportedResource) => ExportedResource["blocks"],
): Generator<FilePiece | null> {
  yield { path, text: "" };
  let isFirst = true;
  for (const kind of kinds) {
    for (const location of listExportLocations(source, kind)) {
      const text = writeBlocks(listBlocks(exported(source, kind, location)));
      yield text === "" ? null : { path, text: isFirst ? text : `\n${text}` };
      isFirst &&= text === "";
    }
  }
}

/** Yields the files of one folder for all resources of a kind. Also yields one null for each resource, to count it. */
function* textFiles(source: Source, kind: Kind, folder: TextFolder): Generator<FilePiece | null> {
  for (const location of inPathOrder(listExportLocations(source, kind))) {
    const files = filesIn(folder, rowAt(source, kind, location));
    yield null;
    for (const { path, content } of files) yield { path, text: content };
  }
}

/** Groups pieces into steps. A null counts as a resource that was read, but adds no piece to the step. */
function* inSteps(pieces: Iterable<FilePiece | null>): Generator<readonly FilePiece[]> {
  let step: FilePiece[] = [];
  let looked = 0;
  let characters = 0;
  for (const piece of pieces) {
    looked += 1;
    if (piece !== null) {
      step.push(piece);
      characters += piece.text.length;
    }
    if (looked < STEP.resources && characters < STEP.characters) continue;
    yield step;
    step = [];
    looked = 0;
    characters = 0;
  }
  yield step;
}

interface ExportLocation {
  readonly address: string;
  readonly id: string;
}

/** Lists the locations of a kind's resources in address order, and reads them a page at a time. */
function* listExportLocations({ reading, workspace }: Source, kind: Kind): Generator<ExportLocation> {
  for (const page of addressPages(reading, workspace.workspaceId, kind.name, { limit: PAGE })) yield* page;
}

function rowAt({ reading, workspace }: Source, kind: Kind, { id }: ExportLocation): ResourceRow {
  return expectResource(reading, workspace.workspaceId, kind.name, id);
}

function exported(source: Source, kind: Kind, location: ExportLocation): ExportedResource {
  const { reading, workspace, kinds, places } = source;
  const row = rowAt(source, kind, location);
  const teamKey = getTeamKey(reading, row.workspaceId, row.teamId);
  const own = places.get(kind.name) ?? 0;
  const refer = (target: string, address: string): string | null => {
    const found = places.get(target);
    const named = found === undefined || found >= own ? undefined : kinds[found];
    return named === undefined ? null : toExpression(named, address, named.fixed[0] ?? "id");
  };
  return exportResource(kind, row, { teamKey, holders: listHolders(kind, workspace, teamKey), refer });
}

function listHolders(kind: Kind, workspace: ResourceRow, teamKey: string): Entries {
  if (kind.heldBy === "none") return [];
  const [holder, address] = kind.heldBy === "team" ? ["team", teamKey] : ["workspace", workspace.address];
  return [[`${holder}_id`, { expression: toExpression({ name: holder }, address, "id") }]];
}

function toExpression(kind: Pick<Kind, "name">, address: string, field: string): string {
  return `${resourceType(kind)}.${blockName(address)}.${field}`;
}

import type { Reading } from "../../storage/store.js";
import type { Kind } from "../resources/kind.js";
import { type ResourcePage, type ResourceRow, resourcesOf } from "../resources/resource-rows.js";
import { type Block, type Entries, writeBlocks } from "./hcl.js";
import { blockName, type ExportedFile, exportResource, resourceType } from "./resource-block.js";
import { inPathOrder } from "./resource-export.js";

/** Resources written at once; whoever reads the export may let other work have its turn between two such pages. */
const PAGE = 100;

/**
 * A whole workspace as an HCL module: `main.tf` with every resource and its import, kinds in the catalogue's order and
 * each in address order; `variables.tf` with what is never read back; and the files that `main.tf` reads. The same
 * bytes as long as nothing changes, whatever order things were made in. It yields after every page; `reading` has to
 * stay as it is until the end.
 *
 * Resources refer to one another by expressions. One that is written earlier is named by its key where it names a
 * later one, since a module may hold no circle.
 */
export function* exportWorkspace(
  reading: Reading,
  kinds: readonly Kind[],
  workspace: ResourceRow,
): Generator<void, ExportedFile[]> {
  const exported = kinds.filter((kind) => kind.hcl !== null);
  const places = new Map(exported.map((kind, place) => [kind.name, { kind, place }]));
  const teamKeys = new Map(resourcesOf(reading, workspace.workspaceId, "team").map((team) => [team.id, team.address]));
  const written = { main: "", variables: "" };
  const files: ExportedFile[] = [];
  for (const [place, kind] of exported.entries()) {
    const refer = (target: string, address: string): string | null => {
      const found = places.get(target);
      if (found === undefined || found.place >= place) return null;
      return expressionOf(found.kind, address, found.kind.fixed[0] ?? "id");
    };
    for (const rows of pagesOf(reading, workspace.workspaceId, kind)) {
      for (const row of rows) {
        const teamKey = teamKeys.get(row.teamId ?? "") ?? "";
        const one = exportResource(kind, row, { teamKey, holders: holdersOf(kind, workspace, teamKey), refer });
        written.main = joined(written.main, one.blocks);
        written.variables = joined(written.variables, one.variables);
        files.push(...one.files);
      }
      yield;
    }
  }
  return inPathOrder([
    { path: "main.tf", content: written.main },
    { path: "variables.tf", content: written.variables },
    ...files,
  ]);
}

function* pagesOf(reading: Reading, workspaceId: string, kind: Kind): Generator<readonly ResourceRow[]> {
  let page: ResourcePage = { limit: PAGE };
  for (;;) {
    const rows = resourcesOf(reading, workspaceId, kind.name, page);
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    page = { limit: PAGE, after: last.address };
  }
}

function joined(before: string, blocks: readonly Block[]): string {
  if (blocks.length === 0) return before;
  return before === "" ? writeBlocks(blocks) : `${before}\n${writeBlocks(blocks)}`;
}

function holdersOf(kind: Kind, workspace: ResourceRow, teamKey: string): Entries {
  if (kind.heldBy === "none") return [];
  const [holder, address] = kind.heldBy === "team" ? ["team", teamKey] : ["workspace", workspace.address];
  return [[`${holder}_id`, { expression: expressionOf({ name: holder }, address, "id") }]];
}

function expressionOf(kind: Pick<Kind, "name">, address: string, field: string): string {
  return `${resourceType(kind)}.${blockName(address)}.${field}`;
}

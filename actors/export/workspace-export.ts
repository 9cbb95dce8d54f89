import type { Reading } from "../../storage/store.js";
import type { Kind } from "../resources/kind.js";
import { type ResourceRow, resourcesOf } from "../resources/resource-rows.js";
import { type Block, type Entries, writeBlocks } from "./hcl.js";
import { blockName, type ExportedFile, exportResource, resourceType } from "./resource-block.js";
import { inPathOrder } from "./resource-export.js";

/**
 * A whole workspace as an HCL module: `main.tf` with every resource and its import, kinds in the catalogue's order and
 * each in address order; `variables.tf` with what is never read back; and the files that `main.tf` reads. The same
 * bytes as long as nothing changes, whatever order things were made in.
 *
 * Resources refer to one another by expressions. One that is written earlier is named by its key where it names a
 * later one, since a module may hold no circle.
 */
export function exportWorkspace(reading: Reading, kinds: readonly Kind[], workspace: ResourceRow): ExportedFile[] {
  const { workspaceId } = workspace;
  const exported = kinds.filter((kind) => kind.hcl !== null);
  const places = new Map(exported.map((kind, place) => [kind.name, { kind, place }]));
  const main: string[] = [];
  const variables: Block[] = [];
  const files: ExportedFile[] = [];
  const teamKeys = new Map(resourcesOf(reading, workspaceId, "team").map((team) => [team.id, team.address]));
  for (const [place, kind] of exported.entries()) {
    for (const row of resourcesOf(reading, workspaceId, kind.name)) {
      const teamKey = teamKeys.get(row.teamId ?? "") ?? "";
      const one = exportResource(kind, row, {
        teamKey,
        holders: holdersOf(kind, workspace, teamKey),
        refer: (target, address) => {
          const found = places.get(target);
          if (found === undefined || found.place >= place) return null;
          return expressionOf(found.kind, address, found.kind.fixed[0] ?? "id");
        },
      });
      main.push(writeBlocks(one.blocks));
      variables.push(...one.variables);
      files.push(...one.files);
    }
  }
  return inPathOrder([
    { path: "main.tf", content: main.join("\n") },
    { path: "variables.tf", content: writeBlocks(variables) },
    ...files,
  ]);
}

function holdersOf(kind: Kind, workspace: ResourceRow, teamKey: string): Entries {
  if (kind.heldBy === "none") return [];
  const [holder, address] = kind.heldBy === "team" ? ["team", teamKey] : ["workspace", workspace.address];
  return [[`${holder}_id`, { expression: expressionOf({ name: holder }, address, "id") }]];
}

function expressionOf(kind: Pick<Kind, "name">, address: string, field: string): string {
  return `${resourceType(kind)}.${blockName(address)}.${field}`;
}

import { dirname } from "node:path";
import { type CodeBlock, readCode } from "./code-blocks.js";
import { refuse, type Source, toPlace } from "./edit-source.js";
import { type FoundStation, memberNamed } from "./find-station.js";
import { toText } from "./hcl-syntax.js";
import type { ModuleInstance } from "./module-instances.js";
import type { Repository } from "./repository.js";
import type { WantedStation } from "./station-edit.js";

/**
 * Refuses a line if a block of its module, or of a module that calls it, has one of these effects:
 * - A `removed` block removes the line or its module.
 * - Several providers have a team with the line's team key. The providers may belong to different services, so the
 *   line's team is unclear.
 */
export async function refuseLineBlocks(
  repository: Repository,
  source: Source,
  of: Pick<WantedStation, "team"> & { readonly found: FoundStation; readonly calls: ModuleInstance["calls"] },
): Promise<void> {
  const { found, calls, team } = of;
  const at = `At ${toPlace(source, found.resource)}`;
  const written = memberNamed(found.line, "team_id");
  const isOwnId = written !== undefined && toText(source.text, written.value).trim() === `"${team.id}"`;
  const own = found.path.slice(1, 3).join(".");
  let addresses: readonly string[] = [own];
  for (const [index, path] of [source.path, ...calls.map(({ block }) => block.file.path)].entries()) {
    const read = await repository.module(dirname(path));
    const blocks = "fault" in read ? [] : read.files.flatMap((file) => readCode(repository, file).blocks);
    const removed = blocks.find((block) => block.type === "removed" && addresses.includes(addressOf(block)));
    if (removed !== undefined)
      refuse("not-proven", `${at}: ${placeOf(removed)} removes the line. The edit would change nothing.`);
    const [first, second] = isOwnId ? [] : teamsByProvider(blocks, team.key);
    if (first !== undefined && second !== undefined)
      refuse(
        "ambiguous",
        `${at}: the team ${team.key} may be that of two providers: ${placeOf(first)} and ${placeOf(second)}.`,
      );
    const name = `module.${calls[index]?.block.labels[0]}`;
    addresses = [name, ...addresses.map((each) => `${name}.${each}`)];
  }
}

function addressOf({ attributes }: CodeBlock): string {
  return (attributes.get("from") ?? "").replace(/["\s]/g, "");
}

function placeOf({ file, start }: CodeBlock): string {
  return toPlace(file, { start });
}

/** Returns, for each provider, the first team with this key. */
function teamsByProvider(blocks: readonly CodeBlock[], key: string): readonly CodeBlock[] {
  const teams = new Map<string, CodeBlock>();
  for (const block of blocks) {
    const isTeam = /^(resource|data)$/.test(block.type) && block.labels[0] === "service_team";
    if (!isTeam || block.attributes.get("key") !== `"${key}"`) continue;
    const provider = block.attributes.get("provider") ?? "";
    teams.set(provider, teams.get(provider) ?? block);
  }
  return [...teams.values()];
}

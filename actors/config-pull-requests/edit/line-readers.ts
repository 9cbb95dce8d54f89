import { dirname } from "node:path";
import { refuse, type Source, toPlace } from "./edit-source.js";
import type { FoundStation } from "./find-station.js";
import type { Repository } from "./repository.js";

/**
 * Refuses a line whose stations another expression of the module reads, such as `service_line.web.stations`: the edit
 * would change the value of that expression too. References to other attributes, such as `id`, do not count.
 */
export async function refuseLineReaders(repository: Repository, source: Source, found: FoundStation): Promise<void> {
  const module = await repository.module(dirname(source.path));
  if ("fault" in module) return;
  const [, type, name] = found.path;
  const reader = new RegExp(
    `\\b${type}\\.${name}(\\s*\\[[^\\]]*\\])?\\s*(\\.\\s*stations\\b|\\[\\s*\\\\?"stations\\\\?"\\s*\\])`,
  );
  for (const { path, text } of module.files) {
    const index = text.split("\n").findIndex((each) => reader.test(each.replace(/^\s*(#|\/\/).*/, "")));
    if (index === -1) continue;
    const message = `At ${toPlace(source, found.resource)}, another expression reads the line's stations: at ${path}:${index + 1}.`;
    refuse("ambiguous", message);
  }
}

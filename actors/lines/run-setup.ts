import { createHash } from "node:crypto";
import type { Reading, Writing } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { findResourceAt } from "../resources/resource.table.js";
import type { HarnessProfileFields } from "./harness-profile.kind.js";
import type { SkillFields } from "./skill.kind.js";
import type { Station } from "./station.js";

/** A skill as a run was given it; `keptSkill` has what it holds. */
export interface SkillUsed {
  readonly key: string;
  /** SHA-256 (hex) over its name, description and files. */
  readonly digest: string;
}

/** What a station's skills and profile were when a run was queued: later changes do not reach it. */
export interface RunSetup {
  readonly skills: readonly SkillUsed[];
  readonly profile: Omit<HarnessProfileFields, "key" | "harness"> | null;
}

/** Where a station's line stands. */
export interface StationLocation {
  readonly workspaceId: string;
  readonly teamKey: string;
}

/** `[digest]` -> the skill, for as long as runs are kept. */
const storedSkills = table<SkillFields>("run-skill");

/** The station's skills and profile as they are now. */
export function setupOf(
  reading: Reading,
  { workspaceId, teamKey }: StationLocation,
  station: Pick<Station, "skills" | "profile">,
): RunSetup {
  const skills = currentSkills(reading, { workspaceId, teamKey }, station.skills).map(({ key, digest }) => ({
    key,
    digest,
  }));
  if (station.profile === null) return { skills, profile: null };
  const address = `${teamKey}/${station.profile}`;
  const found = findResourceAt<HarnessProfileFields>(reading, workspaceId, "harness-profile", address)?.fields;
  if (found === undefined) return { skills, profile: null };
  const { key: _key, harness: _harness, ...profile } = found;
  return { skills, profile };
}

/** Keeps what the station's skills hold now under their digests, for runs that use them. */
export function storeSkills(writing: Writing, place: StationLocation, keys: readonly string[]): void {
  for (const { digest, skill } of currentSkills(writing, place, keys)) {
    if (storedSkills.get(writing, place.workspaceId, digest) === undefined) {
      storedSkills.put(writing, place.workspaceId, digest, skill);
    }
  }
}

/** What a skill held when a run that uses it was queued. */
export function findStoredSkill(reading: Reading, workspaceId: string, digest: string): SkillFields | undefined {
  return storedSkills.get(reading, workspaceId, digest);
}

function currentSkills(reading: Reading, { workspaceId, teamKey }: StationLocation, keys: readonly string[]) {
  return keys.flatMap((key) => {
    const skill = findResourceAt<SkillFields>(reading, workspaceId, "skill", `${teamKey}/${key}`)?.fields;
    return skill === undefined ? [] : [{ key, digest: digestOf(skill), skill }];
  });
}

/** The order of the files makes no difference to a run. */
function digestOf({ name, description, files }: SkillFields): string {
  const sorted = [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
  const parts = [name, description, ...sorted.flatMap(({ path, content }) => [path, content])];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

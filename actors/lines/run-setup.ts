import { createHash } from "node:crypto";
import { z } from "zod";
import type { Turn } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import { findResourceAt } from "../resources/resource.table.js";
import { getText, holdText } from "../tables/text-blobs.js";
import type { HarnessProfileFields } from "./harness-profile.kind.js";
import type { SkillFields } from "./skill.kind.js";
import type { Station } from "./station.js";

/** A skill of a run. Its digest is the key of the stored body. */
export interface SkillUsed {
  readonly key: string;
  /** SHA-256 (hex) over the skill's name, description and files. */
  readonly digest: string;
}

/** The skills and the profile that a station had when a run was queued. Later changes do not affect the run. */
export interface RunSetup {
  readonly skills: readonly SkillUsed[];
  readonly profile: Omit<HarnessProfileFields, "key" | "harness"> | null;
}

/** The location of a station's line. */
export interface StationLocation {
  readonly workspaceId: string;
  readonly teamKey: string;
}

/** Returns the station's current skills and profile. */
export function getRunSetup(
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

/**
 * Stores the current contents of the station's skills, for a run that this turn queues. Each skill becomes a body under
 * its digest.
 */
export function storeSkills(turn: Turn, location: StationLocation, keys: readonly string[]): void {
  for (const { skill } of currentSkills(turn, location, keys)) holdText(turn, location.workspaceId, toBody(skill));
}

/** Returns the contents that a skill had when a run that uses it was queued. */
export function getStoredSkill(reading: Reading, workspaceId: string, digest: string): SkillContents {
  const [name = "", description = "", ...files] = bodySchema.parse(JSON.parse(getText(reading, workspaceId, digest)));
  const paths = files.filter((_, index) => index % 2 === 0);
  return { name, description, files: paths.map((path, index) => ({ path, content: files[2 * index + 1] ?? "" })) };
}

function currentSkills(reading: Reading, { workspaceId, teamKey }: StationLocation, keys: readonly string[]) {
  return keys.flatMap((key) => {
    const skill = findResourceAt<SkillFields>(reading, workspaceId, "skill", `${teamKey}/${key}`)?.fields;
    return skill === undefined ? [] : [{ key, digest: toDigest(skill), skill }];
  });
}

type SkillContents = Pick<SkillFields, "name" | "description" | "files">;

const bodySchema = z.array(z.string());

/**
 * Serializes a skill: its name, its description, then the path and content of each file. The order of files does not
 * matter.
 */
function toBody({ name, description, files }: SkillContents): string {
  const sorted = [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
  return JSON.stringify([name, description, ...sorted.flatMap(({ path, content }) => [path, content])]);
}

function toDigest(skill: SkillContents): string {
  return createHash("sha256").update(toBody(skill)).digest("hex");
}

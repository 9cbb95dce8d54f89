import type { Reading } from "../../storage/store.js";
import { findStoredPack } from "../archives/archive.queries.js";
import { getStoredSkill } from "../lines/run-setup.js";
import { findResourceAt } from "../resources/resource.table.js";
import type { Job } from "../runners/job.js";
import type { Sealer } from "../sealer.js";
import { getText, readStoredText } from "../tables/text-blobs.js";
import { offersTools, readFrozenTools } from "./frozen-tools.js";
import { needsSecrets, toJobReplay } from "./replay-terms.js";
import { runs } from "./run.table.js";
import { addAnswer } from "./run-answer.js";
import { type InputBrief, type RunInputRow, readNotes, runInputs } from "./run-input.table.js";

/** The sources that a job is built from. */
export interface JobSource {
  readonly reading: Reading;
  readonly sealer: Pick<Sealer, "open">;
}

/**
 * Builds the job that a runner needs for a run, from the run's input. Each build returns the same job, except for
 * secret values and stored packs, which are current. Returns undefined in these cases:
 *
 * - The run is missing or has ended.
 * - The claim is outdated.
 * - The run's input is incomplete.
 */
export function buildJob(
  source: JobSource,
  workspaceId: string,
  { runId, fence }: { readonly runId: string; readonly fence: number },
): Job | undefined {
  const { reading } = source;
  const run = runs.get(reading, workspaceId, runId);
  if (run === undefined || run.fence !== fence || run.state === "ended") return undefined;
  const input = runInputs.get(reading, workspaceId, runId);
  if (input === undefined || input.beginning === null || input.claimed === null) return undefined;
  const { config, beginning, claimed } = input;
  const { station, skills, profile } = config;
  const { replay, search, push } = beginning;
  const prompt =
    replay?.answer === undefined ? station.prompt : addAnswer(reading, workspaceId, station.prompt, replay.answer);
  const secrets = replay === undefined || needsSecrets(replay) ? (profile?.secrets ?? {}) : {};
  return {
    runId,
    fence,
    workspaceId,
    ...(claimed.brief === null ? {} : { task: toTask(reading, workspaceId, claimed.brief) }),
    ...(replay === undefined ? {} : { replay: toJobReplay(replay) }),
    ...(search === undefined ? {} : { search }),
    ...(push === undefined ? {} : { push }),
    line: { key: beginning.line.key, name: beginning.line.name },
    station: {
      key: station.key,
      name: beginning.station.name,
      kind: station.kind,
      prompt,
      model: station.model,
      effort: station.effort,
      check: station.check,
      passesTo: [...beginning.station.passesTo],
      next: [...beginning.station.next],
    },
    harness: {
      name: station.harness,
      args: [...(profile?.args ?? [])],
      env: { ...profile?.env },
      ...openSecrets(source, workspaceId, secrets),
    },
    ...(offersTools(beginning) && { tools: toOfferedTools(reading, workspaceId, beginning) }),
    skills: skills.map(({ key, digest }) => toSkill(key, getStoredSkill(reading, workspaceId, digest))),
    timeoutMinutes: Math.min(station.timeoutMinutes, profile?.timeoutMinutes ?? station.timeoutMinutes),
    checkouts: toCheckouts(reading, workspaceId, config, beginning),
  };
}

function toOfferedTools(
  reading: Reading,
  workspaceId: string,
  beginning: NonNullable<RunInputRow["beginning"]>,
): NonNullable<Job["tools"]> {
  return readFrozenTools(reading, workspaceId, beginning).map(({ server, tool: name, description, schema }) => ({
    server,
    name,
    description,
    schema: { ...schema },
  }));
}

function toTask(
  reading: Reading,
  workspaceId: string,
  { id, title, description, url, notes, attachments = [], review }: InputBrief,
): NonNullable<Job["task"]> {
  const list = readNotes(reading, workspaceId, notes);
  const files = attachments.length === 0 ? {} : { attachments: attachments.map((file) => ({ ...file })) };
  return {
    id,
    title,
    description: readStoredText(reading, workspaceId, description),
    url,
    notes: [...list],
    ...files,
    ...(review && { review }),
  };
}

function toSkill(key: string, skill: ReturnType<typeof getStoredSkill>): Job["skills"][number] {
  return { key, ...skill, files: [...skill.files] };
}

function toCheckouts(
  reading: Reading,
  workspaceId: string,
  { repositories }: RunInputRow["config"],
  { checkouts }: NonNullable<RunInputRow["beginning"]>,
): Job["checkouts"] {
  return repositories.map(({ name, setup, image }) => {
    const from = checkouts.find(({ repository }) => repository === name);
    const diff = getText(reading, workspaceId, from?.diff ?? null);
    const { base = null, branch, merges } = from ?? {};
    return {
      repository: name,
      setup,
      image,
      base,
      diff,
      ...(branch !== undefined && { branch }),
      ...(merges !== undefined && { merges }),
      ...toArchive(reading, workspaceId, name, base),
    };
  });
}

function toArchive(
  reading: Reading,
  workspaceId: string,
  repository: string,
  commit: string | null,
): Pick<Job["checkouts"][number], "archive"> {
  const stored = commit === null ? null : findStoredPack(reading, workspaceId, { repository, commit });
  return stored === null ? {} : { archive: { id: stored.archiveId, bytes: stored.bytes, digest: stored.digest } };
}

/**
 * Returns the secret values by environment variable. Also returns the names of the secrets that do not exist or cannot
 * be decrypted.
 */
function openSecrets(
  { reading, sealer }: JobSource,
  workspaceId: string,
  names: Readonly<Record<string, string>>,
): Pick<Job["harness"], "secrets" | "missingSecrets"> {
  const secrets: Record<string, string> = {};
  const missingSecrets: string[] = [];
  for (const [variable, name] of Object.entries(names)) {
    const sealed = findResourceAt(reading, workspaceId, "secret", name)?.hidden.value;
    const value = sealed === undefined ? null : opened(sealer, sealed);
    if (value === null) missingSecrets.push(name);
    else secrets[variable] = value;
  }
  return { secrets, missingSecrets };
}

function opened(sealer: Pick<Sealer, "open">, sealed: string): string | null {
  try {
    return sealer.open(sealed);
  } catch {
    return null;
  }
}

import { z } from "zod";
import { archiveSchema, commitId } from "./kept-commit.js";

/** Longest name of a branch, or `refs/…`, that a runner is told or tells, in characters. */
export const MAX_REF_CHARACTERS = 255;

/** The claim that a message or a job is about. */
export const claim = { runId: z.string().regex(/^[\w-]{1,100}$/), fence: z.int().min(1) };

/**
 * A run of a replay. Its programs get no credentials for pushing, approvals that its agent asks for are dismissed at
 * once, and a question of its agent ends it.
 */
const replaySchema = z.object({
  /** `repeat`: the agent works as in any run. `check`: setup and check run on what a run has changed, without an agent. */
  does: z.enum(["repeat", "check"]),
  /** The commands that get the values of the harness's secrets, as the agent does. */
  secretsFor: z.object({
    check: z.boolean(),
    /** The repositories whose `setup` gets them. */
    setup: z.array(z.string()),
  }),
});
export type JobReplay = z.infer<typeof replaySchema>;

/**
 * A run of a search. Its agent proposes candidates (`propose`) or records why tasks failed (`reflect`); what it is shown
 * is fetched from the service. There are no checkouts, and nobody gives leave or answers questions.
 */
const searchSchema = z.object({ kind: z.enum(["propose", "reflect"]) });
export type JobSearch = z.infer<typeof searchSchema>;

/** A tool that a run's agent may call, as the agent is shown it. Its names are `[A-Za-z0-9_-]{1,64}`. */
const offeredToolSchema = z.object({
  /** The MCP server that it belongs to: the key of its integration. */
  server: z.string(),
  /** Unique within the server. */
  name: z.string(),
  description: z.string(),
  /** JSON Schema of its inputs; `type` is `object`. */
  schema: z.record(z.string(), z.unknown()),
});
export type OfferedTool = z.infer<typeof offeredToolSchema>;

/** A file that the runner fetches from the service, into `context/attachments` of the agent's folder. */
const attachmentSchema = z.object({
  id: z.string().regex(/^\w{1,100}$/),
  /** Unique in the run, also where case does not count. */
  name: z.string().min(1).max(255),
  type: z.string(),
  bytes: z.int().min(0),
  /** SHA-256, hex. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
});
export type JobAttachment = z.infer<typeof attachmentSchema>;

/** What a run reviews: its agent says what it found, as a comment alone, and nothing is pushed. */
const reviewSchema = z.object({
  /** Null for each repository of the run. */
  repository: z.string().nullable(),
  /** Where its checkout begins. */
  ref: z.string(),
  /** The pull request; null for a branch. */
  url: z.string().nullable(),
});

/** Everything that a runner needs for a run. Secrets are in the clear: a job is sent, but never stored. */
export const jobSchema = z.object({
  ...claim,
  workspaceId: z.string(),
  /** Absent where the run's owner is no task; such a job is sent only to a runner with the feature `taskless`. */
  task: z
    .object({
      id: z.string(),
      title: z.string(),
      description: z.string(),
      url: z.string(),
      /** The task's notes, oldest first: of handovers, send-backs, answered questions, hooks. */
      notes: z.array(z.object({ at: z.string(), from: z.string(), text: z.string() })),
      /** Absent for none. */
      attachments: z.array(attachmentSchema).optional(),
      /** Absent for a task that changes things. */
      review: reviewSchema.optional(),
    })
    .optional(),
  /** Absent for a run of no replay; such a job is sent only to a runner with the feature `replays`. */
  replay: replaySchema.optional(),
  /** Absent for a run of no search; such a job is sent only to a runner with the feature `search`. */
  search: searchSchema.optional(),
  /**
   * Whether what the run changes may be pushed: it is held after its report (`push.ts`), and its agent may ask for a pull
   * request. Absent for no; sent only to a runner with the feature `push`.
   */
  push: z.literal(true).optional(),
  line: z.object({ key: z.string(), name: z.string() }),
  station: z.object({
    key: z.string(),
    name: z.string(),
    kind: z.enum(["work", "review"]),
    prompt: z.string(),
    model: z.string().nullable(),
    effort: z.string().nullable(),
    check: z.string().nullable(),
    passesTo: z.array(z.string()),
    /** Those of `passesTo` that come later in the line. A run that ends without a handover goes there if it is one. */
    next: z.array(z.string()),
  }),
  harness: z.object({
    name: z.string(),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
    /** Environment name -> value. */
    secrets: z.record(z.string(), z.string()),
    /** Names of the harness's secrets that no longer exist: the run fails with `secret-missing`. */
    missingSecrets: z.array(z.string()).default([]),
  }),
  /** The agent's skills, written to disk before it starts. */
  skills: z
    .array(
      z.object({
        key: z.string(),
        name: z.string(),
        description: z.string(),
        /** Relative paths, without `..`. */
        files: z.array(z.object({ path: z.string(), content: z.string() })),
      }),
    )
    .default([]),
  /** Absent for none; a job with tools is sent only to a runner with the feature `tools`. */
  tools: z.array(offeredToolSchema).optional(),
  timeoutMinutes: z.number().positive(),
  checkouts: z.array(
    z.object({
      repository: z.string(),
      setup: z.string().nullable(),
      image: z.string().nullable(),
      /** The commit to start from; null for the head of the default branch, which the runner then reports. */
      base: z.string().nullable(),
      /** The task's changes since `base` so far, applied before the agent starts; empty for none. */
      diff: z.string(),
      /**
       * The branch to start from the head of, by its name or as `refs/pull/<n>/head`. Where the repository has no such
       * branch, `base` and `diff` say where to start; where it has no such `refs/…`, the run fails. Absent for none.
       */
      branch: z.string().max(MAX_REF_CHARACTERS).optional(),
      /**
       * What is merged into the checkout before the agent starts: the head of the branch (`HEAD`: the default one), or the
       * commit, where it is known.
       * Conflicts are left in the files for the agent. Absent for nothing.
       */
      merges: z.object({ branch: z.string().max(MAX_REF_CHARACTERS), commit: commitId.nullable() }).optional(),
      /** Where `base` is stored, for when its repository has it no more; absent for nowhere. */
      archive: archiveSchema.optional(),
    }),
  ),
});
export type Job = z.infer<typeof jobSchema>;

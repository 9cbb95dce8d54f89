import { z } from "zod";
import { archiveSchema, commitId } from "./commit-frames.js";

/** Maximum length of a branch name or a `refs/…` name in messages, in characters. */
export const MAX_REF_CHARACTERS = 255;

/** The claim that a message or a job is about. */
export const claim = { runId: z.string().regex(/^[\w-]{1,100}$/), fence: z.int().min(1) };

/**
 * A run of a replay. Its programs get no push credentials. Its agent's approval requests are dismissed at once, and a
 * question from its agent ends the run.
 */
const replaySchema = z.object({
  /**
   * `repeat`: the agent works as in any run. `check`: no agent works; the runner only runs setup and check, on an
   * earlier run's changes.
   */
  does: z.enum(["repeat", "check"]),
  /** The commands that get the values of the harness's secrets. The agent always gets these values. */
  secretsFor: z.object({
    check: z.boolean(),
    /** The repositories whose `setup` gets the secrets. */
    setup: z.array(z.string()),
  }),
});
export type JobReplay = z.infer<typeof replaySchema>;

/**
 * A run of a search. Its agent proposes candidates (`propose`) or records why tasks failed (`reflect`). The runner
 * downloads the agent's material from the service. A search run has no checkouts, approvals or questions.
 */
const searchSchema = z.object({ kind: z.enum(["propose", "reflect"]) });
export type JobSearch = z.infer<typeof searchSchema>;

/** A tool as the agent sees it. Names match `[A-Za-z0-9_-]{1,64}`. */
const offeredToolSchema = z.object({
  /** The MCP server of the tool: the key of its integration. */
  server: z.string(),
  /** Unique within the server. */
  name: z.string(),
  description: z.string(),
  /** JSON Schema of the tool's inputs; `type` is `object`. */
  schema: z.record(z.string(), z.unknown()),
});
export type OfferedTool = z.infer<typeof offeredToolSchema>;

/** A file that the runner downloads from the service into `context/attachments` of the agent's folder. */
const attachmentSchema = z.object({
  id: z.string().regex(/^\w{1,100}$/),
  /** Unique in the run, ignoring case. */
  name: z.string().min(1).max(255),
  type: z.string(),
  bytes: z.int().min(0),
  /** SHA-256 (hex) of the file. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
});
export type JobAttachment = z.infer<typeof attachmentSchema>;

/** The change to review. The agent's only result is a comment, and nothing is pushed. */
const reviewSchema = z.object({
  /** The repository of the change; null for every repository of the run. */
  repository: z.string().nullable(),
  /** The branch or ref of the checkout. */
  ref: z.string(),
  /** The URL of the pull request; null for a branch. */
  url: z.string().nullable(),
});

/** Everything that a runner needs for a run. Secrets are in plain text: a job is sent, but never stored. */
export const jobSchema = z.object({
  ...claim,
  workspaceId: z.string(),
  /**
   * The agent's task. Absent in a job without a task, for example in a search. Only a runner with the feature
   * `taskless` gets such a job.
   */
  task: z
    .object({
      id: z.string(),
      title: z.string(),
      description: z.string(),
      url: z.string(),
      /** The task's notes, oldest first. */
      notes: z.array(z.object({ at: z.string(), from: z.string(), text: z.string() })),
      /** The files that are attached to the task; absent for none. */
      attachments: z.array(attachmentSchema).optional(),
      /** The change to review; absent for a task that changes files. */
      review: reviewSchema.optional(),
    })
    .optional(),
  /** The terms of a replay run; absent outside replays. Only a runner with the feature `replays` gets a replay job. */
  replay: replaySchema.optional(),
  /**
   * The agent's work in a search; absent outside searches. Only a runner with the feature `search` gets a search job.
   */
  search: searchSchema.optional(),
  /**
   * Whether the service may ask the runner to push the run's changes; absent for no. If set, the runner keeps the
   * folder after its report (`push.ts`), and the agent may ask for a pull request. Only a runner with the feature
   * `push` gets such a job.
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
    /**
     * The stations in `passesTo` that come later in the line. If there is exactly one such station, the runner hands
     * the task over to it when the agent ends with neither a handover nor a question.
     */
    next: z.array(z.string()),
  }),
  harness: z.object({
    name: z.string(),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
    /** Secret values by environment variable. */
    secrets: z.record(z.string(), z.string()),
    /**
     * Names of the harness's secrets that are missing or cannot be opened. If there are any, the run fails with
     * `secret-missing`.
     */
    missingSecrets: z.array(z.string()).default([]),
  }),
  /** The agent's skills, which the runner writes to disk before the agent starts. */
  skills: z
    .array(
      z.object({
        key: z.string(),
        name: z.string(),
        description: z.string(),
        /** The skill's files. The paths are relative, without `..`. */
        files: z.array(z.object({ path: z.string(), content: z.string() })),
      }),
    )
    .default([]),
  /**
   * The tools that the agent may call; absent for none. Only a runner with the feature `tools` gets a job with tools.
   */
  tools: z.array(offeredToolSchema).optional(),
  timeoutMinutes: z.number().positive(),
  checkouts: z.array(
    z.object({
      repository: z.string(),
      setup: z.string().nullable(),
      image: z.string().nullable(),
      /**
       * The commit to start from. Null means the head of the default branch; the runner then reports which commit this
       * is.
       */
      base: z.string().nullable(),
      /** The task's changes since `base`, which the runner applies before the agent starts; empty for none. */
      diff: z.string(),
      /**
       * The branch to start from, at its head: a branch name or `refs/pull/<n>/head`. If the branch is missing, the run
       * starts from `base` and `diff`. If the `refs/…` is missing, the run fails. Absent for none.
       */
      branch: z.string().max(MAX_REF_CHARACTERS).optional(),
      /**
       * The branch or commit that the runner merges into the checkout before the agent starts. If `commit` is null, the
       * runner merges the branch's head (`HEAD` for the default branch). The agent finds conflicts in the files. Absent
       * for no merge.
       */
      merges: z.object({ branch: z.string().max(MAX_REF_CHARACTERS), commit: commitId.nullable() }).optional(),
      /** The stored pack of `base`. The runner uses it if the repository no longer has this commit. Absent for none. */
      archive: archiveSchema.optional(),
    }),
  ),
});
export type Job = z.infer<typeof jobSchema>;

/**
 * The protocol between a runner and the service over one WebSocket, `GET /api/runner`, with the pool's token as bearer.
 * Text frames of JSON, each a {@link runnerFrame} or a {@link serviceFrame}.
 *
 * Phases:
 * 1. The runner says `hello`: who it is, what it can run, the last service message it took, the claims it still holds.
 * 2. The service says `welcome`: the runner's id, the last runner message it took, and for each claim `keep` or `drop`.
 *    A runner kills what it is told to drop: its lease ended and the run was given to another.
 * 3. Both send numbered messages (`n` rises by one in each direction, through reconnects) and acknowledge what they
 *    have taken (`ack`, on its own or with a message). The service takes a message only once: a lower or equal `n`
 *    than the last taken is acknowledged and dropped. What was not acknowledged is sent again after the next welcome.
 * 4. `beat` every third of the lease renews the leases of all claims the runner holds. It is not numbered as messages
 *    are; the `ack` that answers it names it, so that the runner knows which beat got through. A runner whose beats do
 *    not get through for a lease kills what it runs.
 * 5. A runner that says in its hello that it `makesRequests` is handed requests to make in its network (`request`), and
 *    says of each what came of it (`response`). They are not numbered: what is lost with a connection, the service has
 *    made again.
 * 6. What a person says to a run is sent as `run.message`; the runner gives it to the agent and says by `run.heard` how
 *    far it got. What an agent was not given by the end of its run, the task's next run finds among its notes.
 * 7. An agent that needs approval for a call asks by `run.permission` and waits; the answer of the task's assignee
 *    comes as `run.permission-answered`. Approvals that are open when the run ends get no answer.
 *
 * Every message about a run carries the fence of its claim: a message with another fence than the run's current one
 * changes nothing and is answered by `run.drop`.
 *
 * Additions, so that a runner and a service of different releases understand each other:
 * - A member that an end does not know is passed over, in every frame.
 * - A new member is optional, its absence meaning what was before it.
 * - A new type of message or frame is sent only to an end that named its feature: the runner in its `hello`, the service
 *   in the `welcome` that answers it. {@link RUNNER_FEATURES} says which there are; an unknown name is passed over.
 * - What cannot be added so takes a new number of the protocol. A hello of another number is refused with an `error`.
 */
import { z } from "zod";
import { inputsTextSchema } from "./call-inputs.js";

export const RUNNER_PROTOCOL = 1;

/** What was added since the first release of this protocol; each end names what it knows. */
export const RUNNER_FEATURES = [
  /** `run.message` and `run.heard`: the run's agent is given what its task's assignee says. */
  "messages",
  /** `run.permission` and `run.permission-answered`: the agent asks the assignee before it does something. */
  "permissions",
  /** A job without `task`: no task stands behind the run. */
  "taskless",
] as const;
export type RunnerFeature = (typeof RUNNER_FEATURES)[number];

/** Longest frame either side sends, in bytes. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;
/** Longest text of one step, in characters; longer ones are cut by the runner. */
export const MAX_STEP_CHARACTERS = 16_384;
/** Longest output kept of setup, check or a failure, in characters; the end is kept. */
export const MAX_OUTPUT_CHARACTERS = 65_536;
/** Longest diff of one checkout, in bytes. */
export const MAX_DIFF_BYTES = 8 * 1024 * 1024;

/** Longest text that a person says to a run, in characters. */
export const MAX_MESSAGE_CHARACTERS = 20_000;
/** How many messages to a run may wait to be given to its agent; the service sends no more. */
export const MAX_UNDELIVERED = 50;

/** Longest reason of a permission that is asked for or dismissed, in characters. */
export const MAX_REASON_CHARACTERS = 2_000;
/** How many permissions of one run may be open; what is asked beyond is dismissed at once. */
export const MAX_OPEN_PERMISSIONS = 20;

/** Longest answer to a request that a runner hands back, in bytes; the beginning is kept. */
export const MAX_ANSWER_BYTES = 16 * 1024;

const claim = { runId: z.string().regex(/^[\w-]{1,100}$/), fence: z.int().min(1) };

/** Money spent, in a currency (ISO 4217). */
export const spentSchema = z.object({ amount: z.number().min(0), currency: z.string().regex(/^[A-Z]{3}$/) });
export type Spent = z.infer<typeof spentSchema>;

export const stepSchema = z.object({
  /** From 0, rising by one within a claim. */
  index: z.int().min(0),
  kind: z.enum(["message", "tool", "output", "thought", "error"]),
  text: z.string().max(MAX_STEP_CHARACTERS),
  tool: z.string().max(255).nullable(),
  spent: spentSchema.nullable(),
});
export type RunStep = z.infer<typeof stepSchema>;

/** Why a run failed. The first six happen before the agent began. */
export const failureCodeSchema = z.enum([
  "no-image",
  "checkout-failed",
  "setup-failed",
  "harness-not-found",
  "secret-missing",
  "not-supported",
  "harness-failed",
  "timed-out",
  "check-failed",
  "diff-too-large",
  "runner-error",
]);
export type FailureCode = z.infer<typeof failureCodeSchema>;

export const failureSchema = z.object({
  code: failureCodeSchema,
  /** One sentence for a person. */
  message: z.string().max(2_000),
  /** The end of what the failing program printed. */
  output: z.string().max(MAX_OUTPUT_CHARACTERS),
});
export type RunFailure = z.infer<typeof failureSchema>;

export const checkoutResultSchema = z.object({
  repository: z.string(),
  /** The commit the diff is against: 40 or 64 hex digits. */
  base: z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/),
  /** Unified git diff (`--binary`) of everything the task has changed since `base`; empty when nothing. */
  diff: z.string(),
});
export type CheckoutResult = z.infer<typeof checkoutResultSchema>;

/** What the agent leaves at its end, when it completed. */
export const endingSchema = z.discriminatedUnion("kind", [
  /** Handed over; accepted by the service beforehand through `run.handover`. */
  z.object({ kind: z.literal("handover"), to: z.string(), note: z.string().max(20_000) }),
  /** Asks the assignee; the task goes to the inbox. */
  z.object({ kind: z.literal("ask"), question: z.string().min(1).max(20_000) }),
  /** Neither: the station passes to no other, or the agent's handover was refused. */
  z.object({ kind: z.literal("finish"), note: z.string().max(20_000) }),
]);
export type RunEnding = z.infer<typeof endingSchema>;

export const runnerMessageSchema = z.discriminatedUnion("type", [
  /** The claim is taken up: checkouts are laid out, setup ran, the agent starts. */
  z.object({ type: z.literal("run.started"), ...claim }),
  z.object({ type: z.literal("run.step"), ...claim, step: stepSchema }),
  /** The agent wants to hand over; answered by `run.handover-answered` with the same id. */
  z.object({
    type: z.literal("run.handover"),
    ...claim,
    id: z.string().min(1).max(100),
    to: z.string().min(1).max(64),
    note: z.string().max(20_000),
  }),
  z.object({
    type: z.literal("run.ended"),
    ...claim,
    outcome: z.enum(["completed", "failed", "stopped"]),
    ending: endingSchema.nullable(),
    failure: failureSchema.nullable(),
    checkouts: z.array(checkoutResultSchema).max(50),
    /** The station's check command, when it has one and it ran. */
    check: z
      .object({
        passed: z.boolean(),
        exitCode: z.int().nullable(),
        output: z.string().max(MAX_OUTPUT_CHARACTERS),
      })
      .nullable(),
    spent: spentSchema.nullable(),
  }),
  /** The agent needs approval to call a tool; answered by `run.permission-answered` with the same id. */
  z.object({
    type: z.literal("run.permission"),
    ...claim,
    /** The runner's own; another one for each. */
    id: z.string().min(1).max(100),
    tool: z.string().min(1).max(255),
    /** What it would be called with: the JSON text of an object. */
    inputs: inputsTextSchema,
    reason: z.string().max(MAX_REASON_CHARACTERS),
  }),
  /** The agent got all messages to it up to message `n`. */
  z.object({ type: z.literal("run.heard"), ...claim, n: z.int().min(1) }),
  /** A new offer of the runner (when it drains: slots 0). */
  z.object({ type: z.literal("offer"), slots: z.int().min(0).max(1_000) }),
]);
export type RunnerMessage = z.infer<typeof runnerMessageSchema>;

/** A run as a runner gets it: everything it needs, secrets in the clear (only ever on the socket, never at rest). */
export const jobSchema = z.object({
  ...claim,
  workspaceId: z.string(),
  /** Absent where no task stands behind the run; such a job is only sent to a runner that named `taskless`. */
  task: z
    .object({
      id: z.string(),
      title: z.string(),
      description: z.string(),
      url: z.string(),
      /** What was said so far, oldest first: handover notes, send-backs, questions with answers, hook notes. */
      notes: z.array(z.object({ at: z.string(), from: z.string(), text: z.string() })),
    })
    .optional(),
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
    /** Those of `passesTo` that come later in the line: a run that ends without a word goes to the only one. */
    next: z.array(z.string()),
  }),
  harness: z.object({
    name: z.string(),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
    /** Environment name -> value. */
    secrets: z.record(z.string(), z.string()),
    /** Names of secrets that the harness wants and that are gone: the run fails with `secret-missing`. */
    missingSecrets: z.array(z.string()).default([]),
  }),
  /** What the agent is taught, laid out for it before it starts. */
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
  timeoutMinutes: z.number().positive(),
  checkouts: z.array(
    z.object({
      repository: z.string(),
      setup: z.string().nullable(),
      image: z.string().nullable(),
      /** The commit to start from; null takes the default branch's head, and the runner reports which it was. */
      base: z.string().nullable(),
      /** What the task has changed since `base` so far, to apply first; empty for nothing. */
      diff: z.string(),
    }),
  ),
});
export type Job = z.infer<typeof jobSchema>;

export const serviceMessageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("run.assign"), job: jobSchema }),
  z.object({ type: z.literal("run.stop"), ...claim, reason: z.string() }),
  /** `refused` is null when the handover is given, else why not; the agent may try again. */
  z.object({
    type: z.literal("run.handover-answered"),
    ...claim,
    id: z.string(),
    refused: z.string().nullable(),
  }),
  /** Something to give to the agent, in the order of `n`, which rises by one from 1 within a claim. */
  z.object({
    type: z.literal("run.message"),
    ...claim,
    n: z.int().min(1),
    /** Who says it: `person <id>`. */
    from: z.string().max(255),
    text: z.string().min(1).max(MAX_MESSAGE_CHARACTERS),
  }),
  /** The approval of a call, or its dismissal. */
  z.object({
    type: z.literal("run.permission-answered"),
    ...claim,
    id: z.string(),
    verdict: z.enum(["approved", "dismissed"]),
    /** What to call the tool with in place of what was asked (JSON text); null for as it was asked. */
    inputs: inputsTextSchema.nullable(),
    /** Why it was dismissed, if that was said. */
    reason: z.string().nullable(),
  }),
  /** The claim is over: kill what runs for it and report nothing more. */
  z.object({ type: z.literal("run.drop"), ...claim }),
]);
export type ServiceMessage = z.infer<typeof serviceMessageSchema>;

/** Names of {@link RUNNER_FEATURES} that the end knows, and of later ones; absent for none. */
const features = z.array(z.string().min(1).max(64)).max(100).optional();

export const runnerFrameSchema = z.discriminatedUnion("frame", [
  z.object({
    frame: z.literal("hello"),
    protocol: z.int(),
    /** The id the service gave it before, or null the first time. */
    runnerId: z.string().max(100).nullable(),
    /** Random, made once by each runner process; a runner id with another instance is a new start without claims. */
    instance: z.string().min(16).max(100),
    name: z.string().min(1).max(100),
    version: z.string().max(50),
    labels: z.array(z.string().min(1).max(64)).max(50),
    harnesses: z.array(z.string().min(1).max(64)).max(50),
    slots: z.int().min(0).max(1_000),
    /** The last service message taken; 0 for none. */
    received: z.int().min(0),
    claims: z.array(z.object(claim)).max(1_000),
    /** Whether it takes `request` frames; absent for no. */
    makesRequests: z.boolean().optional(),
    features,
  }),
  /** What came of a request: one of the two is null. */
  z.object({
    frame: z.literal("response"),
    id: z.string().max(100),
    answer: z
      .object({
        status: z.int().min(100).max(999),
        body: z.string().max(MAX_ANSWER_BYTES),
        retryAfter: z.string().max(1_000).nullable(),
      })
      .nullable(),
    failure: z
      .object({ code: z.enum(["unreachable", "not-allowed", "errored"]), reason: z.string().max(1_000) })
      .nullable(),
  }),
  z.object({ frame: z.literal("message"), n: z.int().min(1), ack: z.int().min(0), message: runnerMessageSchema }),
  z.object({ frame: z.literal("ack"), ack: z.int().min(0) }),
  z.object({
    frame: z.literal("beat"),
    ack: z.int().min(0),
    claims: z.array(z.object(claim)).max(1_000),
    /** Named again by the `ack` that answers it. */
    beat: z.int().min(1).optional(),
  }),
]);
export type RunnerFrame = z.infer<typeof runnerFrameSchema>;

export const serviceFrameSchema = z.discriminatedUnion("frame", [
  z.object({
    frame: z.literal("welcome"),
    runnerId: z.string(),
    /** The last runner message taken; 0 for none. */
    received: z.int().min(0),
    leaseSeconds: z.number().positive(),
    claims: z.array(z.object({ ...claim, verdict: z.enum(["keep", "drop"]) })),
    features,
  }),
  z.object({
    frame: z.literal("message"),
    n: z.int().min(1),
    ack: z.int().min(0),
    message: serviceMessageSchema,
  }),
  z.object({
    frame: z.literal("ack"),
    ack: z.int().min(0),
    /** The beat that this answers, whose leases begin anew; absent when it answers a message. */
    beat: z.int().min(1).optional(),
  }),
  /** A POST to make in the runner's network, and to answer with a `response` of the same id. */
  z.object({
    frame: z.literal("request"),
    id: z.string().max(100),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    timeoutMs: z.number().positive(),
  }),
  /** The frame or the hello cannot be taken; the service closes after it. */
  z.object({ frame: z.literal("error"), message: z.string() }),
]);
export type ServiceFrame = z.infer<typeof serviceFrameSchema>;

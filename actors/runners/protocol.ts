/**
 * The protocol between a runner and the service over one WebSocket, `GET /api/runner`, with the pool's token as bearer.
 * Text frames of JSON, each a {@link runnerFrame} or a {@link serviceFrame}.
 *
 * Phases:
 * 1. The runner sends `hello`: its identity, what it can run, the last service message it received, and its claims.
 * 2. The service answers `welcome`: the runner's id, the last runner message it received, and for each claim `keep` or
 *    `drop`. A claim is dropped when its lease has ended and the run is another runner's: the runner kills the run.
 * 3. Both send numbered messages (`n` rises by one in each direction, also across reconnects) and acknowledge them
 *    (`ack`, on its own or with a message). The service takes each message once: one whose `n` is not higher than the
 *    last is only acknowledged. Unacknowledged messages are sent again after the next welcome.
 * 4. A `beat` every third of the lease renews the leases of all claims of the runner. Beats are not numbered like
 *    messages; the `ack` that answers a beat names it. A runner whose beats are not acknowledged for the length of a
 *    lease kills its runs.
 * 5. A runner whose hello has `makesRequests` gets requests to make in its network (`request`) and answers each
 *    (`response`). They are not numbered; the service repeats a request that is lost with a connection.
 * 6. A person's message to a run is sent as `run.message`. The runner passes it to the agent and confirms with
 *    `run.heard`. Messages that did not reach the agent before the run ended become notes for the task's next run.
 * 7. An agent that needs approval for a call asks with `run.permission` and waits. The answer of the task's assignee is
 *    sent as `run.permission-answered`. Approvals that are open when the run ends are not answered.
 *
 * 8. A runner whose hello has the feature `commits` keeps the commits that runs began from. It names them in `kept`, once
 *    after each welcome and every few hours, a frame at a time; the service answers each with `released`: those that no
 *    run needs any more, which the runner keeps no longer. After a welcome, and whenever it looks for one, the service
 *    sends the commits that replay sets need (`wanted`). A runner that has one, or is named to get it, takes it, says
 *    what it found, and sends its pack over HTTP (`/api/runner/archives`). These frames are not numbered.
 * 9. A runner whose hello has the feature `search` gets jobs of searches. It fetches what their agents are shown, and sends
 *    what they say, over HTTP (`/api/runs/{runId}/search-…`), naming itself and its claim.
 * 10. A runner whose hello has the feature `tools` gets jobs with tools, and passes their agents' calls on: `run.tool-call`,
 *    `run.tool-cancelled`, `run.tool-waiting`, `run.tool-answered` (`run-tools.ts`).
 * 11. A runner whose hello has the feature `push` pushes what a run changed. The job of a run that may be pushed has
 *    `push`. The agent asks for a pull request with `run.pull-request`; the service may order a push (`run.push`) before
 *    it answers (`run.pull-request-answered`). After the run's report (`run.ended`) the runner keeps the run's folder and
 *    its slot, answers further orders, and holds the claim until the service ends it with `run.drop`. See `push.ts`.
 *
 * Every message about a run carries the fence of its claim. A message with another fence than the run's current one
 * has no effect and is answered with `run.drop`.
 *
 * Rules for additions, so that a runner and a service of different releases understand each other:
 * - Unknown members of a frame are ignored.
 * - A new member is optional. Its absence means the behaviour before it was added.
 * - A new type of message or frame is sent only to an end that named its feature: the runner in its `hello`, the
 *   service in its `welcome`. {@link RUNNER_FEATURES} lists them; unknown names are ignored.
 * - Any other change needs a new protocol number. A hello with another number is refused with an `error`.
 */
import { z } from "zod";
import { boundAmount, MAX_AMOUNT } from "../money.js";
import { unreadKinds } from "../outbound/http-exchange.js";
import { inputsTextSchema } from "./call-inputs.js";
import { claim, jobSchema, MAX_REF_CHARACTERS } from "./job.js";
import { commitId, keptFrame, releasedFrame, wantedFrame } from "./kept-commit.js";
import { pullRequestAnswered, pullRequestWish, pushed, pushOrder, pushRejected } from "./push.js";
import { toolAnsweredSchema, toolCalledSchema, toolCancelledSchema, toolWaitingSchema } from "./run-tools.js";
import { calledName, toolCallSchema } from "./tool-call.js";

export const RUNNER_PROTOCOL = 1;

/** Features added since the first release of this protocol; each end names those that it supports. */
export const RUNNER_FEATURES = [
  /** `run.message` and `run.heard`: the task's assignee sends messages to the run's agent. */
  "messages",
  /** `run.permission` and `run.permission-answered`: the agent asks the assignee before it calls a tool. */
  "permissions",
  /** A job without `task`: the run's owner is no task. */
  "taskless",
  /** `bases` in `run.started`: the commits that the checkouts begin from. */
  "bases",
  /** `replay` in a job: the run belongs to a replay, and nothing but its report may leave it. */
  "replays",
  /** `kept`, `released` and `wanted`, and `archive` of a job's checkout: commits that outlive their branches. */
  "commits",
  /** `search` in a job: the agent proposes configs of a search, or looks into what failed. */
  "search",
  /** `tools` in a job, and the messages about calls: the agent calls tools of integrations through the service. */
  "tools",
  /** `push` in a job, and the messages of `push.ts`: what a run changed is pushed to a branch of the code host. */
  "push",
  /** `branch` and `merges` of a job's checkout: the run begins at the head of a branch. */
  "branches",
] as const;
export type RunnerFeature = (typeof RUNNER_FEATURES)[number];

/** Longest frame either side sends, in bytes. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;
/** Longest text of one step, in characters; longer ones are cut by the runner. */
export const MAX_STEP_CHARACTERS = 16_384;
/** Longest output of a setup, check or failure, in characters; a longer one keeps its end. */
export const MAX_OUTPUT_CHARACTERS = 65_536;
/** Longest diff of one checkout, in bytes. */
export const MAX_DIFF_BYTES = 8 * 1024 * 1024;

/** Longest remark on what a run did, in characters. */
export const MAX_REMARK_CHARACTERS = 20_000;
/** Most remarks on a run: one for each checkout, and one on all of it. */
export const MAX_REMARKS = 51;

/** Longest message of a person to a run, in characters. */
export const MAX_MESSAGE_CHARACTERS = 20_000;
/** Most messages to a run that its agent has not received; the service sends no more. */
export const MAX_UNDELIVERED = 50;

/** Longest reason given with a permission, for asking or dismissing, in characters. */
export const MAX_REASON_CHARACTERS = 2_000;
/** Most open permissions of one run; further ones are dismissed at once. */
export const MAX_OPEN_PERMISSIONS = 20;

/** Longest answer that a runner returns for a request that names no limit, in bytes; a longer one keeps its beginning. */
export const MAX_ANSWER_BYTES = 16 * 1024;
/** Highest limit that a request names, in bytes. */
const MAX_WHOLE_ANSWER_BYTES = 1024 * 1024;

/** Money spent, in a currency (ISO 4217). */
export const spentSchema = z.object({ amount: z.number().min(0), currency: z.string().regex(/^[A-Z]{3}$/) });
export type Spent = z.infer<typeof spentSchema>;

/**
 * The same as a runner reports it. Runners of earlier releases bound no amount, and JSON makes null of a sum that was no
 * number any more: both are taken as the most that an amount is, since a refused frame would be sent again for ever.
 * Less than a billionth is taken as 0 (`money.ts`).
 */
const reportedSpent = z.object({
  amount: z.preprocess(
    (amount) => (amount === null || amount === Number.POSITIVE_INFINITY ? MAX_AMOUNT : amount),
    spentSchema.shape.amount.overwrite(boundAmount),
  ),
  currency: spentSchema.shape.currency,
});

/** A name that people are shown. Control characters, which runners of earlier releases sent on, become spaces. */
const shownName = z.string().overwrite((name) => name.replace(/\p{Cc}/gu, " "));

export const stepSchema = z.object({
  /** From 0, rising by one within a claim. */
  index: z.int().min(0),
  kind: z.enum(["message", "tool", "output", "thought", "error"]),
  text: z.string().max(MAX_STEP_CHARACTERS),
  tool: shownName.max(255).nullable(),
  spent: reportedSpent.nullable(),
  /** The call of a tool that the step is about; absent for none. */
  call: toolCallSchema.optional(),
  /** Key of the skill that the agent read in the step; absent for none. */
  skill: calledName.optional(),
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
  /** The end of the failing program's output. */
  output: z.string().max(MAX_OUTPUT_CHARACTERS),
});
export type RunFailure = z.infer<typeof failureSchema>;

/** A model, as an agent names it. */
export const modelName = shownName.min(1).max(200);

/** Most checkouts of a run: as many as a line has repositories. */
const MAX_CHECKOUTS = 50;

/** The commit that a checkout begins from. */
const baseSchema = z.object({
  repository: z.string().max(200),
  base: commitId,
  /** The `branch` of the job, where the commit was its head; absent where the checkout began from `base` of the job. */
  branch: z.string().max(MAX_REF_CHARACTERS).optional(),
  /** The commit that was merged in before the agent started (`merges` of the job); absent for none. */
  merged: commitId.optional(),
});
export type CheckoutBase = z.infer<typeof baseSchema>;

export const checkoutResultSchema = z.object({
  repository: z.string(),
  /** The commit the diff is against. */
  base: commitId,
  /** Unified git diff (`--binary`) of all the task's changes since `base`; empty for none. */
  diff: z.string(),
  /**
   * The same of the run's own changes: since the tree that it began from, `base` with the diff of the job. In a replay
   * whose job has such a diff; absent where `diff` holds no other changes.
   */
  own: z.string().optional(),
});
export type CheckoutResult = z.infer<typeof checkoutResultSchema>;

/** The result of an agent that completed. */
export const endingSchema = z.discriminatedUnion("kind", [
  /** A handover, which the service has accepted before through `run.handover`. */
  z.object({ kind: z.literal("handover"), to: z.string(), note: z.string().max(20_000) }),
  /** A question to the assignee; the task moves to the inbox. */
  z.object({ kind: z.literal("ask"), question: z.string().min(1).max(20_000) }),
  /** Neither: the station passes to no other, or the handover was refused. */
  z.object({ kind: z.literal("finish"), note: z.string().max(20_000) }),
]);
export type RunEnding = z.infer<typeof endingSchema>;

export const runnerMessageSchema = z.discriminatedUnion("type", [
  /** The checkouts are in place, setup has run, the agent starts; or the check of a job without agent. */
  z.object({ type: z.literal("run.started"), ...claim, bases: z.array(baseSchema).max(MAX_CHECKOUTS).optional() }),
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
    checkouts: z.array(checkoutResultSchema).max(MAX_CHECKOUTS),
    /** The result of the station's check command; null when it has none or it did not run. */
    check: z
      .object({
        passed: z.boolean(),
        exitCode: z.int().nullable(),
        output: z.string().max(MAX_OUTPUT_CHARACTERS),
      })
      .nullable(),
    spent: reportedSpent.nullable(),
    /** The model that the agent says it used; absent for none. */
    model: modelName.optional(),
    /** What people should know of the work besides: paths that are in no diff, with the reasons. Absent for nothing. */
    remarks: z.array(z.string().min(1).max(MAX_REMARK_CHARACTERS)).max(MAX_REMARKS).optional(),
  }),
  /** The agent needs approval to call a tool; answered by `run.permission-answered` with the same id. */
  z.object({
    type: z.literal("run.permission"),
    ...claim,
    /** An id that the runner makes for each request. */
    id: z.string().min(1).max(100),
    tool: shownName.min(1).max(255),
    /** The inputs of the call: the JSON text of an object. */
    inputs: inputsTextSchema,
    reason: z.string().max(MAX_REASON_CHARACTERS),
  }),
  /** The agent has received its messages up to number `n`. */
  z.object({ type: z.literal("run.heard"), ...claim, n: z.int().min(1) }),
  toolCalledSchema,
  toolCancelledSchema,
  pullRequestWish,
  pushed,
  pushRejected,
  /** The runner changes its number of slots; 0 to drain. */
  z.object({ type: z.literal("offer"), slots: z.int().min(0).max(1_000) }),
]);
export type RunnerMessage = z.infer<typeof runnerMessageSchema>;

export const serviceMessageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("run.assign"), job: jobSchema }),
  z.object({ type: z.literal("run.stop"), ...claim, reason: z.string() }),
  /** `refused` is null for an accepted handover, else the reason; the agent may try again. */
  z.object({
    type: z.literal("run.handover-answered"),
    ...claim,
    id: z.string(),
    refused: z.string().nullable(),
  }),
  /** A message for the agent. `n` begins at 1 and rises by one within a claim. */
  z.object({
    type: z.literal("run.message"),
    ...claim,
    n: z.int().min(1),
    /** The sender: `person <id>`. */
    from: z.string().max(255),
    text: z.string().min(1).max(MAX_MESSAGE_CHARACTERS),
  }),
  /** The approval of a call, or its dismissal. */
  z.object({
    type: z.literal("run.permission-answered"),
    ...claim,
    id: z.string(),
    verdict: z.enum(["approved", "dismissed"]),
    /** Inputs to use instead of those asked for (JSON text); null for no change. */
    inputs: inputsTextSchema.nullable(),
    /** Why it was dismissed, if a reason was given. */
    reason: z.string().nullable(),
  }),
  toolWaitingSchema,
  toolAnsweredSchema,
  pushOrder,
  pullRequestAnswered,
  /** The claim has ended: the runner kills the run and reports nothing more about it. */
  z.object({ type: z.literal("run.drop"), ...claim }),
]);
export type ServiceMessage = z.infer<typeof serviceMessageSchema>;

/** The features that the end supports: names of {@link RUNNER_FEATURES} or of later releases; absent for none. */
const features = z.array(z.string().min(1).max(64)).max(100).optional();

export const runnerFrameSchema = z.discriminatedUnion("frame", [
  z.object({
    frame: z.literal("hello"),
    protocol: z.int(),
    /** The id that the service assigned; null for the first connection. */
    runnerId: z.string().max(100).nullable(),
    /** A random id of the runner's process. With another instance the runner has no claims. */
    instance: z.string().min(16).max(100),
    name: z.string().min(1).max(100),
    version: z.string().max(50),
    labels: z.array(z.string().min(1).max(64)).max(50),
    harnesses: z.array(z.string().min(1).max(64)).max(50),
    slots: z.int().min(0).max(1_000),
    /** Number of the last service message received; 0 for none. */
    received: z.int().min(0),
    claims: z.array(z.object(claim)).max(1_000),
    /** Whether it accepts `request` frames; absent for no. */
    makesRequests: z.boolean().optional(),
    features,
  }),
  /** The result of a request: exactly one of `answer` and `failure` is not null. */
  z.object({
    frame: z.literal("response"),
    id: z.string().max(100),
    answer: z
      .object({
        status: z.int().min(100).max(999),
        body: z.string().max(MAX_WHOLE_ANSWER_BYTES),
        retryAfter: z.string().max(1_000).nullable(),
        /** Why the body is not whole; null when it is. Absent from runners of earlier releases, which do not say. */
        unread: z
          .object({ kind: z.enum(unreadKinds).catch("broken"), reason: z.string().max(1_000) })
          .nullable()
          .optional(),
        /** Why the text may not be what was sent; absent when nothing is in doubt. */
        doubt: z.string().max(1_000).optional(),
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
    /** Repeated by the `ack` that answers it. */
    beat: z.int().min(1).optional(),
  }),
  keptFrame,
]);
export type RunnerFrame = z.infer<typeof runnerFrameSchema>;

export const serviceFrameSchema = z.discriminatedUnion("frame", [
  z.object({
    frame: z.literal("welcome"),
    runnerId: z.string(),
    /** Number of the last runner message received; 0 for none. */
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
    /** The beat that this answers, which renewed the leases; absent for the answer to a message. */
    beat: z.int().min(1).optional(),
  }),
  /** A POST to make in the runner's network; answered with a `response` of the same id. */
  z.object({
    frame: z.literal("request"),
    id: z.string().max(100),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    timeoutMs: z.number().positive(),
    /** Most bytes of the answer's body; {@link MAX_ANSWER_BYTES} when absent, or where a runner of an earlier release made it. */
    maxBodyBytes: z.int().min(1).max(MAX_WHOLE_ANSWER_BYTES).optional(),
  }),
  releasedFrame,
  wantedFrame,
  /** A frame or the hello is refused; the service closes the connection. */
  z.object({ frame: z.literal("error"), message: z.string() }),
]);
export type ServiceFrame = z.infer<typeof serviceFrameSchema>;

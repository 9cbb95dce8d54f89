/**
 * The protocol between a runner and the service over one WebSocket, `GET /api/runner`, with the pool's token as bearer.
 * Frames are JSON texts, each a {@link RunnerFrame} or a {@link ServiceFrame}.
 *
 * Phases:
 * 1. The runner sends `hello`: its identity, what it can run, the last service message it received, and its claims.
 * 2. The service answers `welcome`: the runner's id, the last runner message it received, and for each claim `keep` or
 *    `drop`. The service drops a claim that is no longer the runner's, for example because its lease has expired;
 *    the runner kills the run.
 * 3. Both send numbered messages (`n` increases by one in each direction, across reconnects) and acknowledge them
 *    (`ack`, on its own or with a message). The service processes each message once. A message whose `n`
 *    is not higher than the last one is only acknowledged. Unacknowledged messages are sent again after the next
 *    welcome.
 * 4. A `beat` every third of the lease renews the leases of all claims of the runner. Beats have no message
 *    numbers; the `ack` that answers a beat names it. If no beat is acknowledged for the length of a lease, the
 *    runner kills its runs.
 * 5. A runner whose hello has `makesRequests` gets requests to make in its network (`request`) and answers each
 *    (`response`). These frames have no numbers. The service repeats a request that was lost with a connection.
 * 6. A person's message to a run is sent as `run.message`. The runner passes it to the agent and confirms with
 *    `run.heard`. Messages that did not reach the agent before the run ended become notes for the task's next run.
 * 7. An agent that needs approval for a call asks with `run.permission` and waits. The answer of the task's assignee is
 *    sent as `run.permission-answered`. Approvals that are open when the run ends are not answered.
 *
 * 8. A runner whose hello has the feature `commits` stores the commits that runs start from. It lists them in `kept`,
 *    once after each welcome and every few hours, one frame at a time. The service answers each `kept` with `released`:
 *    the listed commits that no run needs any more. The runner deletes these. After a welcome, and when the service
 *    looks for a commit, it sends the commits that replays need (`wanted`). A runner that has such a commit, or is
 *    asked to fetch it, reports the result and uploads the commit's pack over HTTP (`/api/runner/archives`). These
 *    frames have no numbers.
 * 9. A runner whose hello has the feature `search` gets search jobs. The runner downloads the agents' material and
 *    uploads the agents' results over HTTP (`/api/runs/{runId}/search-…`), with its id and its claim.
 * 10. A runner whose hello has the feature `tools` gets jobs with tools, and passes on the agents' calls:
 *    `run.tool-call`, `run.tool-cancelled`, `run.tool-waiting`, `run.tool-answered` (`run-tools.ts`).
 * 11. A runner whose hello has the feature `push` pushes the changes of runs. The job of a run that may be pushed has
 *    `push`. The agent asks for a pull request with `run.pull-request`; the service may order a push (`run.push`)
 *    before it answers (`run.pull-request-answered`). After the run's report (`run.ended`) the runner keeps the run's
 *    folder and its slot, answers further orders, and holds the claim until the service ends it with `run.drop`. See
 *    `push.ts`.
 *
 * Every message about a run carries the fence of its claim. A message whose fence is not the run's current one
 * has no effect, and the answer is `run.drop`.
 *
 * Rules for additions, so that a runner and a service of different releases understand each other:
 * - Each end ignores unknown members of a frame.
 * - A new member is optional. Its absence means the earlier behaviour.
 * - A new type of message or frame is only sent to an end that listed its feature: the runner in its `hello`, the
 *   service in its `welcome`. {@link RUNNER_FEATURES} lists them. Each end ignores unknown names.
 * - Any other change needs a new protocol number. The service refuses a hello with another number with an `error`.
 */
import { z } from "zod";
import { boundAmount, MAX_AMOUNT } from "../money.js";
import { unreadKinds } from "../outbound/http/http-exchange.js";
import { inputsTextSchema } from "./call-inputs.js";
import { commitId, keptFrame, releasedFrame, wantedFrame } from "./commit-frames.js";
import { claim, jobSchema, MAX_REF_CHARACTERS } from "./job.js";
import { pullRequestAnswered, pullRequestWish, pushed, pushOrder, pushRejected } from "./push.js";
import { toolAnsweredSchema, toolCalledSchema, toolCancelledSchema, toolWaitingSchema } from "./run-tools.js";
import { calledName, toolCallSchema } from "./tool-call.js";

export const RUNNER_PROTOCOL = 1;

/** Features added since the first release of this protocol. Each end lists the features that it supports. */
export const RUNNER_FEATURES = [
  /** `run.message` and `run.heard`: the task's assignee sends messages to the run's agent. */
  "messages",
  /** `run.permission` and `run.permission-answered`: the agent asks the assignee before it calls a tool. */
  "permissions",
  /** A job without `task`, as in a search. */
  "taskless",
  /** `bases` in `run.started`: the starting commits of the checkouts. */
  "bases",
  /** `replay` in a job: the run belongs to a replay, and must have no effect besides its report. */
  "replays",
  /** `kept`, `released` and `wanted`, and `archive` in a job's checkout: commits that outlive their branches. */
  "commits",
  /** `search` in a job: the agent proposes configs for a search, or analyses failures. */
  "search",
  /** `tools` in a job, and the messages about calls: the agent calls tools of integrations through the service. */
  "tools",
  /** `push` in a job, and the messages of `push.ts`: the runner pushes a run's changes to a branch of the code host. */
  "push",
  /** `branch` and `merges` in a job's checkout: the run starts at the head of a branch. */
  "branches",
] as const;
export type RunnerFeature = (typeof RUNNER_FEATURES)[number];

/** Maximum frame size in either direction, in bytes. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;
/** Maximum text length of one step, in characters. The runner cuts longer texts. */
export const MAX_STEP_CHARACTERS = 16_384;
/** Maximum output of a setup, check or failure, in characters. Only the end of a longer output is sent. */
export const MAX_OUTPUT_CHARACTERS = 65_536;
/** Maximum diff of one checkout, in bytes. */
export const MAX_DIFF_BYTES = 8 * 1024 * 1024;

/** Maximum length of a remark about a run, in characters. */
export const MAX_REMARK_CHARACTERS = 20_000;
/** Maximum number of remarks on a run: one for each checkout, and one on the whole run. */
export const MAX_REMARKS = 51;

/** Maximum length of a person's message to a run, in characters. */
export const MAX_MESSAGE_CHARACTERS = 20_000;
/** Maximum number of messages to a run that its agent has not received. The service accepts no more. */
export const MAX_UNDELIVERED = 50;

/** Maximum length of the reason for a permission request or a dismissal, in characters. */
export const MAX_REASON_CHARACTERS = 2_000;
/** Maximum number of open permissions of one run. The service dismisses further requests at once. */
export const MAX_OPEN_PERMISSIONS = 20;

/** Default maximum body of a `response`, in bytes. Only the start of a longer body is sent. */
export const MAX_ANSWER_BYTES = 16 * 1024;
/** Highest limit that a request may set, in bytes. */
const MAX_WHOLE_ANSWER_BYTES = 1024 * 1024;

/** Money spent, in a currency. */
export const spentSchema = z.object({
  amount: z.number().min(0).describe("The amount in units of the currency, such as 1.25; not in cents."),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .describe("The ISO 4217 code of the currency, such as `USD`."),
});
export type Spent = z.infer<typeof spentSchema>;

/**
 * An amount as a runner reports it. Null and amounts above the maximum become the maximum. A refusal would not help,
 * because the runner would send the same frame again forever. Such amounts come from earlier releases: their runners do
 * not limit amounts, and JSON turns an infinite sum into null. An amount below a billionth becomes 0 (`money.ts`).
 */
const reportedSpent = z.object({
  amount: z
    .preprocess(
      (amount) => (amount === null || amount === Number.POSITIVE_INFINITY ? MAX_AMOUNT : amount),
      spentSchema.shape.amount.overwrite(boundAmount),
    )
    .describe("The amount in units of the currency, such as 1.25; not in cents."),
  currency: spentSchema.shape.currency,
});

/** A name shown to people. Control characters, which earlier runner releases pass on, become spaces. */
const shownName = z.string().overwrite((name) => name.replace(/\p{Cc}/gu, " "));

export const stepSchema = z.object({
  index: z.int().min(0).describe("The position of the step, from 0; increases by one within a claim."),
  kind: z
    .enum(["message", "tool", "output", "thought", "error"])
    .describe(
      "`message`: text for people. `tool`: a tool call. `output`: the result of a call. `thought`: the agent's " +
        "reasoning. `error`: an error.",
    ),
  text: z
    .string()
    .max(MAX_STEP_CHARACTERS)
    .describe(`The content of the step, at most ${MAX_STEP_CHARACTERS} characters; the runner cuts longer texts.`),
  tool: shownName.max(255).nullable().describe("The tool that the step calls, as its agent names it; null for none."),
  spent: reportedSpent.nullable().describe("The cost of this step; null if the agent reported none."),
  call: toolCallSchema.optional().describe("The tool call that the step is about; absent for none."),
  skill: calledName.optional().describe("The key of the skill that the agent read in the step; absent for none."),
});
export type RunStep = z.infer<typeof stepSchema>;

/** The reason for a failed run. The first six codes occur before the agent starts. */
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
  code: failureCodeSchema.describe("The reason for the failure, for programs."),
  message: z.string().max(2_000).describe("The failure in one sentence, for people."),
  output: z
    .string()
    .max(MAX_OUTPUT_CHARACTERS)
    .describe(`The end of the failing program's output, at most ${MAX_OUTPUT_CHARACTERS} characters.`),
});
export type RunFailure = z.infer<typeof failureSchema>;

/** A model, as an agent names it. */
export const modelName = shownName.min(1).max(200);

/** Maximum number of checkouts of a run: a line has at most this many repositories. */
const MAX_CHECKOUTS = 50;

/** The starting commit of a checkout. */
const baseSchema = z.object({
  repository: z.string().max(200),
  base: commitId,
  /**
   * The job's `branch` if the checkout started at the head of this branch. Absent if it started from the job's `base`.
   */
  branch: z.string().max(MAX_REF_CHARACTERS).optional(),
  /** The commit that the runner merged in before the agent started (the job's `merges`); absent for none. */
  merged: commitId.optional(),
});
export type CheckoutBase = z.infer<typeof baseSchema>;

export const checkoutResultSchema = z.object({
  repository: z.string().describe("The repository of the checkout, as `owner/name`."),
  base: commitId.describe("The commit that the diff is against, in hex."),
  diff: z
    .string()
    .describe("Unified git diff (`--binary`) of all the task's changes since `base`; empty for no changes."),
  own: z
    .string()
    .optional()
    .describe(
      "The diff of the changes that the run itself made, after the job's diff was applied to `base`. Only in a " +
        "replay whose job has a diff; absent if `diff` has only the run's own changes.",
    ),
});
export type CheckoutResult = z.infer<typeof checkoutResultSchema>;

/** The result of an agent that completed. */
export const endingSchema = z.discriminatedUnion("kind", [
  z.object({
    // A handover that the service accepted earlier, through `run.handover`.
    kind: z.literal("handover").describe("The agent handed the task over to another station."),
    to: z.string().describe("The key of the next station."),
    note: z.string().max(20_000).describe("The agent's note for the next station, at most 20,000 characters."),
  }),
  z.object({
    kind: z.literal("ask").describe("The agent asked its assignee a question; the task moves to the inbox."),
    question: z.string().min(1).max(20_000).describe("The question to the task's assignee."),
  }),
  z.object({
    kind: z.literal("finish").describe("The agent ended with neither a handover nor a question."),
    note: z.string().max(20_000).describe("The agent's summary of its work, at most 20,000 characters."),
  }),
]);
export type RunEnding = z.infer<typeof endingSchema>;

export const runnerMessageSchema = z.discriminatedUnion("type", [
  /**
   * The checkouts are in place, setup has run, and the agent starts. In a job without an agent, the check starts
   * instead.
   */
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
    /** The result of the station's check command; null if the station has no check, or if the check did not run. */
    check: z
      .object({
        passed: z.boolean(),
        exitCode: z.int().nullable(),
        output: z.string().max(MAX_OUTPUT_CHARACTERS),
      })
      .nullable(),
    spent: reportedSpent.nullable(),
    /** The model that the agent reports; absent for none. */
    model: modelName.optional(),
    /**
     * Notes for people about the work, such as paths that are missing from the diffs, with reasons. Absent for none.
     */
    remarks: z.array(z.string().min(1).max(MAX_REMARK_CHARACTERS)).max(MAX_REMARKS).optional(),
  }),
  /** The agent needs approval to call a tool; answered by `run.permission-answered` with the same id. */
  z.object({
    type: z.literal("run.permission"),
    ...claim,
    /** An id that the runner generates for each request. */
    id: z.string().min(1).max(100),
    tool: shownName.min(1).max(255),
    /** The inputs of the call: the JSON text of an object. */
    inputs: inputsTextSchema,
    reason: z.string().max(MAX_REASON_CHARACTERS),
  }),
  /** The agent has received the messages up to number `n`. */
  z.object({ type: z.literal("run.heard"), ...claim, n: z.int().min(1) }),
  toolCalledSchema,
  toolCancelledSchema,
  pullRequestWish,
  pushed,
  pushRejected,
  /** The runner changes its number of slots; 0 drains it. */
  z.object({ type: z.literal("offer"), slots: z.int().min(0).max(1_000) }),
]);
export type RunnerMessage = z.infer<typeof runnerMessageSchema>;

export const serviceMessageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("run.assign"), job: jobSchema }),
  z.object({ type: z.literal("run.stop"), ...claim, reason: z.string() }),
  /** `refused` is null for an accepted handover, otherwise the reason. The agent may try again. */
  z.object({
    type: z.literal("run.handover-answered"),
    ...claim,
    id: z.string(),
    refused: z.string().nullable(),
  }),
  /** A message for the agent. `n` starts at 1 and increases by one within a claim. */
  z.object({
    type: z.literal("run.message"),
    ...claim,
    n: z.int().min(1),
    /** The sender: `person <id>`. */
    from: z.string().max(255),
    text: z.string().min(1).max(MAX_MESSAGE_CHARACTERS),
  }),
  /** The answer to a permission request: the call is approved or dismissed. */
  z.object({
    type: z.literal("run.permission-answered"),
    ...claim,
    id: z.string(),
    verdict: z.enum(["approved", "dismissed"]),
    /** Inputs to use instead of the requested ones (JSON text); null for no change. */
    inputs: inputsTextSchema.nullable(),
    /** The reason for a dismissal, if one was given. */
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

/** The features that the end supports: names of {@link RUNNER_FEATURES} or of later releases. Absent for none. */
const features = z.array(z.string().min(1).max(64)).max(100).optional();

export const runnerFrameSchema = z.discriminatedUnion("frame", [
  z.object({
    frame: z.literal("hello"),
    protocol: z.int(),
    /** The id that the service assigned; null on the first connection. */
    runnerId: z.string().max(100).nullable(),
    /** A random id of the runner's process. A runner with a new instance has no claims. */
    instance: z.string().min(16).max(100),
    name: shownName.min(1).max(100),
    version: z.string().max(50),
    labels: z.array(z.string().min(1).max(64)).max(50),
    harnesses: z.array(z.string().min(1).max(64)).max(50),
    slots: z.int().min(0).max(1_000),
    /** Number of the last service message received; 0 for none. */
    received: z.int().min(0),
    claims: z.array(z.object(claim)).max(1_000),
    /** Whether the runner accepts `request` frames; absent for no. */
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
        /** The reason why the body is incomplete; null if it is complete. Earlier runner releases omit it. */
        unread: z
          .object({ kind: z.enum(unreadKinds).catch("broken"), reason: z.string().max(1_000) })
          .nullable()
          .optional(),
        /** The reason why the text may differ from the original; absent if there is none. */
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
    /** The `ack` that answers this beat repeats the number. */
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
    /**
     * The number of the beat that this frame answers. The service has renewed the leases at that beat. Absent if the
     * frame answers a message.
     */
    beat: z.int().min(1).optional(),
  }),
  /** A POST request to make in the runner's network. The `response` has the same id. */
  z.object({
    frame: z.literal("request"),
    id: z.string().max(100),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    timeoutMs: z.number().positive(),
    /**
     * Maximum body of the response, in bytes. The default is {@link MAX_ANSWER_BYTES}; earlier runner releases always
     * use the default.
     */
    maxBodyBytes: z.int().min(1).max(MAX_WHOLE_ANSWER_BYTES).optional(),
  }),
  releasedFrame,
  wantedFrame,
  /** The service refuses a frame or the hello, and closes the connection. */
  z.object({ frame: z.literal("error"), message: z.string() }),
]);
export type ServiceFrame = z.infer<typeof serviceFrameSchema>;

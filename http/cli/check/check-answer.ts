import { z } from "zod";

/** What the service answers about a check, as far as it is read here; a later release may answer more. */

/** An id, as it may stand in a path. */
export const idSchema = z.string().regex(/^[\w-]{1,100}$/);

/** A word of the service's own: it is shown as it is, so it must be nothing else. */
const word = z.string().regex(/^[a-z]+(-[a-z]+){0,9}$/);

const interval = z.looseObject({ low: z.number(), high: z.number() });
const money = z.looseObject({ amount: z.number(), currency: z.string().regex(/^[A-Z]{3}$/) });

const side = z.looseObject({
  state: word.nullable(),
  entries: z.number(),
  scored: z.number(),
  succeeded: z.number(),
  successRate: z.number().nullable(),
  interval: interval.nullable(),
  tasksScored: z.number(),
  spent: money.nullable(),
});

const copies = z.array(z.unknown());

const regression = z.looseObject({
  taskId: z.string(),
  title: z.string().nullish(),
  candidate: copies,
  baseline: copies,
  reasons: z.array(z.looseObject({ code: z.string(), detail: z.string().nullish() })),
});

export const checkSchema = z.looseObject({
  id: idSchema,
  teamId: idSchema,
  setName: z.string().nullish(),
  attempt: z.number(),
  keptLive: z.array(z.string()),
  threshold: z.looseObject({ mostRegressions: z.number(), minGain: z.number(), ceiling: money }),
  repeats: z.number(),
  gain: z
    .looseObject({
      gain: z.number(),
      low: z.number(),
      high: z.number(),
      verdict: word,
      tasks: z.number(),
      few: z.boolean().optional(),
      otherScoring: z.boolean().optional(),
    })
    .nullable(),
  verdict: z.enum(["failed", "running", "undecided", "passed"]),
  undecidedBecause: word.nullable(),
  tasks: z.number(),
  compared: z.number(),
  candidate: side,
  baseline: side,
  // Releases before did not say it.
  waiting: z.looseObject({ for: word, since: z.iso.datetime() }).nullish(),
  regressions: z.array(regression),
  replayUrl: z.string().nullable(),
  reused: z.boolean(),
  warnings: z.array(z.looseObject({ text: z.string() })).default([]),
});

export type CheckAnswer = z.output<typeof checkSchema>;
export type CheckSide = z.output<typeof side>;
export type Regression = z.output<typeof regression>;
export type Money = z.output<typeof money>;

/** A problem, as far as it is read here. */
export const problemSchema = z.looseObject({ type: z.string().default(""), detail: z.string().default("") });

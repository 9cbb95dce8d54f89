import { z } from "zod";

/**
 * The service's response about a check. The schemas cover only the fields that this program reads. They accept unknown
 * fields, because a later release may add some.
 */

/** An id that is safe in a path. */
export const idSchema = z.string().regex(/^[\w-]{1,100}$/);

/** A keyword of the service. It is printed unescaped, so the pattern allows only lowercase letters and hyphens. */
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
  // Absent in responses of earlier releases.
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

/** A problem response. Covers only the fields that this program reads. */
export const problemSchema = z.looseObject({ type: z.string().default(""), detail: z.string().default("") });

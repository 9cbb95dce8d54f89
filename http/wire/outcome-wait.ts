import { listenTo, type Topic } from "../../runtime/feeds/topic.js";
import type { Runtime } from "../../runtime/runtime.js";

/** The topic of a workspace on which the outcome of work outside the turn is published. */
export interface OutcomeTopic<Data, Outcome> {
  readonly workspaceId: string;
  readonly topic: Topic<Data>;
  /** The outcome in an entry of the topic; undefined for an entry about something else. */
  readonly toOutcome: (data: Data) => Outcome | undefined;
}

/** How long an answer waits, in milliseconds, and the outcome after that. */
export interface OutcomeBound<Outcome> {
  readonly maxMs: number;
  readonly late: Outcome;
}

/** A wait for an outcome. */
export interface OutcomeWait<Outcome> {
  readonly outcome: Promise<Outcome>;
  /** Stops listening; call it once. */
  end(): void;
}

/** Listens from now on: call it before the request whose outcome is awaited, so that nothing is missed. */
export function listenForOutcome<Data, Outcome>(
  { feed, clock }: Pick<Runtime, "feed" | "clock">,
  { workspaceId, topic, toOutcome }: OutcomeTopic<Data, Outcome>,
  { maxMs, late }: OutcomeBound<Outcome>,
): OutcomeWait<Outcome> {
  const ends: (() => void)[] = [];
  const outcome = new Promise<Outcome>((resolve) => {
    const listener = (data: Data): void => {
      const found = toOutcome(data);
      if (found !== undefined) resolve(found);
    };
    ends.push(
      listenTo(feed, workspaceId, topic, listener),
      clock.at(clock.now() + maxMs, () => resolve(late)),
    );
  });
  return {
    outcome,
    end: () => {
      for (const end of ends) end();
    },
  };
}

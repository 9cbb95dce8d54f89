import { listenTo, type Topic } from "../../runtime/feeds/topic.js";
import type { Runtime } from "../../runtime/runtime.js";

/** The workspace topic that publishes the outcome of asynchronous work. */
export interface OutcomeTopic<Data, Outcome> {
  readonly workspaceId: string;
  readonly topic: Topic<Data>;
  /** Returns the outcome in a topic entry; undefined if the entry is about something else. */
  readonly toOutcome: (data: Data) => Outcome | undefined;
}

/** Maximum time to wait for an outcome, in milliseconds, and the outcome to use after that. */
export interface OutcomeBound<Outcome> {
  readonly maxMs: number;
  readonly late: Outcome;
}

/** A pending outcome, with a function that stops the wait. */
export interface OutcomeWait<Outcome> {
  readonly outcome: Promise<Outcome>;
  /** Stops listening; call it once. */
  end(): void;
}

/** Starts to listen for an outcome. Call it before you start the work, so that no entry is missed. */
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

import type { Runtime } from "../runtime/runtime.js";

/** What is told on a topic of a workspace once something is over that goes on outside any turn. */
export interface OutcomeTopic<Outcome> {
  readonly workspaceId: string;
  readonly topic: string;
  /** What an entry of the topic says; undefined where it is about something else. */
  readonly toOutcome: (data: unknown) => Outcome | undefined;
}

/** The longest time that an answer waits, in milliseconds, and what it says after that. */
export interface OutcomeBound<Outcome> {
  readonly maxMs: number;
  readonly late: Outcome;
}

/** An outcome that is waited for. */
export interface OutcomeWait<Outcome> {
  readonly outcome: Promise<Outcome>;
  /** Listens no longer; to be called once. */
  end(): void;
}

/** Listens from now on, so that nothing is missed of what is asked for next. */
export function listenForOutcome<Outcome>(
  { feed, clock }: Pick<Runtime, "feed" | "clock">,
  { workspaceId, topic, toOutcome }: OutcomeTopic<Outcome>,
  { maxMs, late }: OutcomeBound<Outcome>,
): OutcomeWait<Outcome> {
  const ends: (() => void)[] = [];
  const outcome = new Promise<Outcome>((resolve) => {
    const hear = (data: unknown): void => {
      const told = toOutcome(data);
      if (told !== undefined) resolve(told);
    };
    ends.push(
      feed.listen(workspaceId, topic, (entry) => hear(entry.data)),
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

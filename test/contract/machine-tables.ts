import type { AnyStateMachine, StateNode } from "xstate";

/**
 * What a machine takes, by state: the events (classes of messages, where its actor classifies them), each with the
 * states that it may lead to, `" | "` between them. `same` stays in the state; `not taken` says that guards may refuse
 * it. `any` stands for every state. What has no row is not taken.
 */
export interface MachineTable {
  readonly any?: Rows;
  readonly [state: string]: Rows | undefined;
}
type Rows = Readonly<Record<string, string>>;

/** What each row says, in words: `open, resource.delete: closed | same`. */
type Outcomes = ReadonlyMap<string, string>;

/** Where the machine and its table differ, a line each; none when they are equal. */
export function compareWithTable(machine: AnyStateMachine, table: MachineTable): readonly string[] {
  const states = Object.keys(machine.states);
  const isGiven = (state: string) => table[state] !== undefined;
  const [actual, documented] = [readMachine(machine), readTable(table, states)];
  return [
    ...states.filter((state) => !isGiven(state)).map((state) => `the table lacks the state ${state}`),
    ...Object.keys(table)
      .filter((state) => state !== "any" && !states.includes(state))
      .map((state) => `the machine lacks the state ${state}`),
    ...[...actual].flatMap(([row, outcome]) => {
      const expected = documented.get(row);
      if (expected === outcome) return [];
      return [`${row}: the machine says ${outcome}, the table ${expected ?? "nothing"}`];
    }),
    ...[...documented.keys()].filter((row) => !actual.has(row)).map((row) => `${row}: the machine says nothing`),
  ];
}

/** The events that a machine takes in some state. */
export function eventsOf({ root, states }: AnyStateMachine): readonly string[] {
  return [root, ...Object.values(states)].flatMap((node) => [...node.transitions.keys()]);
}

/** Whether the table has a row for the event in the state. */
export function isInTable(table: MachineTable, state: string, event: string): boolean {
  return [table[state], table.any].some((rows) => rows?.[event] !== undefined);
}

function readTable(table: MachineTable, states: readonly string[]): Outcomes {
  return new Map(
    states.flatMap((state) =>
      Object.entries({ ...table.any, ...table[state] }).map(([event, outcome]) => [
        nameRow(state, event),
        inOrder(outcome.split(" | ").map((lead) => (lead === "same" ? state : lead))),
      ]),
    ),
  );
}

function readMachine({ root, states }: AnyStateMachine): Outcomes {
  return new Map(
    Object.values(states).flatMap((node) =>
      [...new Set([...node.transitions.keys(), ...root.transitions.keys()])].map((event) => [
        nameRow(node.key, event),
        inOrder(leadsOf(node, [...(node.transitions.get(event) ?? []), ...(root.transitions.get(event) ?? [])])),
      ]),
    ),
  );
}

interface Candidate {
  readonly guard?: unknown;
  readonly target?: readonly StateNode[] | undefined;
  readonly actions: readonly unknown[];
}

/** Where the transitions that are tried one after another may lead, up to the first without a guard. */
function leadsOf(from: StateNode, candidates: readonly Candidate[]): readonly string[] {
  const last = candidates.findIndex(({ guard }) => guard === undefined);
  const tried = last === -1 ? candidates : candidates.slice(0, last + 1);
  const outcome = tried.map(({ target, actions }) => {
    const stays = actions.length === 0 ? "not taken" : from.key;
    return target?.map(({ key }) => key).join(",") ?? stays;
  });
  return last === -1 ? [...outcome, "not taken"] : outcome;
}

const nameRow = (state: string, event: string) => `${state}, ${event}`;
const inOrder = (outcome: readonly string[]) => [...new Set(outcome)].sort().join(" | ");

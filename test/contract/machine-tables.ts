import type { AnyStateMachine, StateNode } from "xstate";

/**
 * The transitions of a machine, by state. The state `any` means every state.
 *
 * Each row has an event and the possible next states, separated by `" | "`. If the actor classifies its messages, the
 * event is the class of a message. The next state `same` means that the machine stays in the state. `not taken` means
 * that guards may reject the event. The machine does not take an event without a row.
 */
export interface MachineTable {
  readonly any?: Rows;
  readonly [state: string]: Rows | undefined;
}
type Rows = Readonly<Record<string, string>>;

/** The possible next states of each row as text, in alphabetical order: `open, resource.delete` -> `closed | open`. */
type Outcomes = ReadonlyMap<string, string>;

/** Compares a machine with its table. Returns one line per difference; empty if they are equal. */
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

/** Returns the events that the machine takes in at least one state. */
export function listEvents({ root, states }: AnyStateMachine): readonly string[] {
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
        inOrder(listLeads(node, [...(node.transitions.get(event) ?? []), ...(root.transitions.get(event) ?? [])])),
      ]),
    ),
  );
}

interface Candidate {
  readonly guard?: unknown;
  readonly target?: readonly StateNode[] | undefined;
  readonly actions: readonly unknown[];
}

/**
 * Returns the possible next states if the machine tries these transitions in order. A transition without a guard is
 * always taken, so the transitions after it are ignored.
 */
function listLeads(from: StateNode, candidates: readonly Candidate[]): readonly string[] {
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

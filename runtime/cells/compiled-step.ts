import type { AnyStateMachine, StateNode } from "xstate";
import type { Message, Turn } from "../turns/turn.js";
import type { StoredState } from "./actor-type.js";

/** The arguments that XState passes to guards, actions and assignments. */
interface Args {
  readonly context: unknown;
  readonly event: Message & { readonly turn: Turn };
}
type Call = (args: unknown, params: undefined) => unknown;

/**
 * Runs one action, and returns the context after it: a new object after an assignment, otherwise the object that it
 * received.
 */
type Act = (args: Args) => unknown;

interface Transition {
  readonly guard: Call | null;
  /** The new state; null if the state stays the same. */
  readonly target: string | null;
  readonly acts: readonly Act[];
}

/** Transitions by state and message type, in the order to try them. */
type TransitionTable = ReadonlyMap<string, ReadonlyMap<string, readonly Transition[]>>;

/** Returns the state after a message, or null if no transition accepts it. */
export type CompiledStep = (state: StoredState, message: Message, turn: Turn) => StoredState | null;

/** Functions that guard a step. `spawn` always throws. `checkReturned` throws if an action returned a promise. */
export interface ForbiddenCalls {
  readonly spawn: () => never;
  readonly checkReturned: (action: string, returned: unknown) => void;
}

/**
 * Compiles a machine into a lookup table. Returns null if the machine is not flat and plain:
 *
 * - It has one level of states, without entry actions, exit actions or wildcards.
 * - Its guards are functions, and its actions are functions or `assign`.
 *
 * The result equals that of XState's own transition at a tenth of the cost; `test/runtime/cells/compiled-step.test.ts`
 * compares the two.
 */
export function compileStep(machine: AnyStateMachine, forbidden: ForbiddenCalls): CompiledStep | null {
  const table = compileTable(machine, forbidden);
  if (table === null) return null;
  return (state, message, turn) => {
    const event = withTurn(message, turn);
    const candidates = table.get(String(state.value))?.get(message.type);
    if (candidates === undefined) return null;
    const asked: Args = { context: state.context, event };
    for (const { guard, target, acts } of candidates) {
      if (guard !== null && !guard(asked, undefined)) continue;
      if (target === null && acts.length === 0) return null;
      let context = state.context;
      for (const act of acts) context = act({ context, event });
      const value = target ?? state.value;
      return value === state.value && context === state.context ? state : { value, context };
    }
    return null;
  };
}

function compileTable(machine: AnyStateMachine, forbidden: ForbiddenCalls): TransitionTable | null {
  const { root } = machine;
  if (root.type !== "compound" || !isPlain(root)) return null;
  const table = new Map<string, Map<string, readonly Transition[]>>();
  for (const node of Object.values(root.states)) {
    if ((node.type !== "atomic" && node.type !== "final") || !isPlain(node)) return null;
    const byType = new Map<string, readonly Transition[]>();
    for (const type of new Set([...node.transitions.keys(), ...root.transitions.keys()])) {
      const found = [...(node.transitions.get(type) ?? []), ...(root.transitions.get(type) ?? [])];
      const transitions = found.map((one) => compileTransition(machine, one, forbidden));
      if (!transitions.every((one) => one !== null)) return null;
      byType.set(type, transitions);
    }
    table.set(node.key, byType);
  }
  return table;
}

/** Whether the node has only transitions on exact message types, and no entry, exit or initial actions. */
function isPlain(node: StateNode): boolean {
  const types = [...node.transitions.keys()];
  const exact = types.every((type) => !type.includes("*") && !type.startsWith("xstate."));
  return exact && node.entry.length === 0 && node.exit.length === 0 && (node.initial?.actions.length ?? 0) === 0;
}

function compileTransition(
  machine: AnyStateMachine,
  definition: {
    readonly guard?: unknown;
    readonly target?: readonly StateNode[] | undefined;
    readonly actions: readonly unknown[];
  },
  forbidden: ForbiddenCalls,
): Transition | null {
  const guard =
    definition.guard === undefined ? null : resolveImplementation(machine.implementations.guards, definition.guard);
  if (guard === undefined || (guard !== null && "check" in guard)) return null;
  const [target, ...others] = definition.target ?? [];
  if (others.length > 0 || (target !== undefined && target.parent !== machine.root)) return null;
  const acts: Act[] = [];
  for (const action of definition.actions) {
    const act = compileAction(machine, action, forbidden);
    if (act === null) return null;
    acts.push(act);
  }
  return { guard, target: target?.key ?? null, acts };
}

/**
 * Returns the function of a guard or action, which a machine gives directly or by name. Returns undefined if there is
 * none.
 */
function resolveImplementation(named: Readonly<Record<string, unknown>>, given: unknown): Call | undefined {
  const found = typeof given === "string" ? named[given] : given;
  return isCall(found) ? found : undefined;
}

function isCall(value: unknown): value is Call {
  return typeof value === "function";
}

function compileAction(machine: AnyStateMachine, given: unknown, { spawn, checkReturned }: ForbiddenCalls): Act | null {
  const action = resolveImplementation(machine.implementations.actions, given);
  if (action === undefined) return null;
  if (!("resolve" in action)) {
    const name = typeof given === "string" ? given : action.name;
    return (args) => {
      checkReturned(name, action(args, undefined));
      return args.context;
    };
  }
  if (!("type" in action && action.type === "xstate.assign" && "assignment" in action)) return null;
  const update = compileUpdate(action.assignment);
  if (update === null) return null;
  return ({ context, event }) => merged(context, update({ context, event, spawn }));
}

/**
 * Adds the turn to the message. Does not use spread syntax, which takes ten times as long with so many message shapes.
 */
function withTurn<M extends Message>(message: M, turn: Turn): M & { readonly turn: Turn } {
  const event = Object.assign({ turn }, message);
  event.turn = turn;
  return event;
}

/** Returns the context after an assignment. If the update has every field, returns the update itself. */
function merged(context: unknown, update: unknown): unknown {
  return isWhole(update, context) ? update : Object.assign({}, context, update);
}

function isWhole(update: unknown, context: unknown): boolean {
  if (typeof update !== "object" || update === null || typeof context !== "object" || context === null) return false;
  for (const name in context) if (!(name in update)) return false;
  return true;
}

/**
 * Compiles an assignment. The assignment may be one function for the whole update, or an object with a value or
 * function per field. Returns null for any other assignment.
 */
function compileUpdate(assignment: unknown): ((args: unknown) => unknown) | null {
  if (isCall(assignment)) return (args) => assignment(args, undefined);
  if (typeof assignment !== "object" || assignment === null) return null;
  const fields = Object.entries(assignment);
  return (args) =>
    Object.fromEntries(fields.map(([name, given]) => [name, isCall(given) ? given(args, undefined) : given]));
}

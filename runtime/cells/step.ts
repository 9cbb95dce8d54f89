import {
  type AnyActorScope,
  type AnyEventObject,
  type AnyStateMachine,
  createActor,
  type ExecutableActionObject,
  isMachineSnapshot,
  type StateNode,
} from "xstate";
import type { Message, Turn } from "../turns/turn.js";
import type { ActorType, StoredState } from "./actor-type.js";
import type { Address } from "./address.js";
import { compileStep } from "./compiled-step.js";

/** A machine's state between two steps. It is immutable, so a failed turn can return to the previous state. */
export type MachineState = StoredState;

/** Steps one machine as a pure function of state, message and turn. The stepper itself is stateless. */
export interface Stepper {
  /** Returns the state of a new actor. Throws if the machine's context factory throws. */
  initial(of: Address): MachineState;
  restore(stored: StoredState): MachineState;
  store(state: MachineState): StoredState;
  /** Returns the state after the message, or null if no transition accepts it. Throws if a guard or action throws. */
  step(state: MachineState, message: Message, turn: Turn): MachineState | null;
}

const NOBODY: Address = { partition: "", kind: "", id: "" };

/** Prepares a machine for stepping. Throws if the machine uses features that a stored actor cannot support. */
export function createStepper(machine: AnyStateMachine): Stepper {
  refuseUnsteppable(machine.root, machine.id);
  const step = compileStep(machine, {
    spawn: () => refuse(machine, "spawn"),
    checkReturned: (action, returned) => checkReturned(machine, action, returned),
  });
  if (step === null) return createGeneralStepper(machine);
  let made: Stepper | null = null;
  const general = (): Stepper => {
    made ??= createGeneralStepper(machine);
    return made;
  };
  const toStored = (state: MachineState): StoredState => ({ value: state.value, context: state.context });
  const isSame = typeof machine.config.context !== "function";
  let first: StoredState | null = null;
  return {
    initial(of) {
      if (first !== null) return first;
      const state = toStored(general().initial(of));
      if (isSame) first = state;
      return state;
    },
    restore: (stored) => toStored(general().restore(stored)),
    store: toStored,
    step,
  };
}

/**
 * Prepares an actor type for stepping: its `classify` runs first, then the stepper that `create` returns for its
 * machine.
 */
export function createActorStepper(
  { machine, classify }: Pick<ActorType, "machine" | "classify">,
  create: (machine: AnyStateMachine) => Stepper = createStepper,
): Stepper {
  const stepper = create(machine);
  if (classify === undefined) return stepper;
  return { ...stepper, step: (state, message, turn) => stepper.step(state, classify(message, state, turn), turn) };
}

/** Creates a stepper for any machine. It uses XState's own transition function. */
export function createGeneralStepper(machine: AnyStateMachine): Stepper {
  const actor = createActor(machine, { input: NOBODY });
  let taken = false;
  actor.system.inspect((event) => {
    if (event.type !== "@xstate.microstep") return;
    for (const transition of event._transitions) {
      if (transition.target !== undefined || transition.actions.length > 0) taken = true;
    }
  });
  const scope: AnyActorScope = {
    self: actor,
    id: actor.id,
    sessionId: actor.sessionId,
    system: actor.system,
    logger: () => refuse(machine, "log"),
    defer: () => refuse(machine, "spawn"),
    emit: () => refuse(machine, "emit"),
    stopChild: () => refuse(machine, "stopChild"),
    actionExecutor: (action) => execute(machine, action),
  };
  return {
    initial(of) {
      const state = machine.getInitialSnapshot(scope, of);
      if (state.status === "error") throw state.error;
      return state;
    },
    restore: (stored) => machine.resolveState({ value: stored.value as never, context: stored.context }),
    store: (state) => ({ value: state.value, context: state.context }),
    step(state, message, turn) {
      taken = false;
      const event: AnyEventObject = { ...message, turn };
      if (!isMachineSnapshot(state)) throw new Error(`a ${machine.id} is stepped from a state of another stepper`);
      const next = machine.transition(state, event, scope);
      return taken ? next : null;
    },
  };
}

function execute(machine: AnyStateMachine, action: ExecutableActionObject): void {
  if (action.type.startsWith("xstate.")) refuse(machine, action.type.slice("xstate.".length));
  if (action.exec === undefined) throw new Error(`machine ${machine.id} has no action ${action.type}`);
  checkReturned(machine, action.type, action.exec(action.info, action.params));
}

function checkReturned(machine: AnyStateMachine, action: string, returned: unknown): void {
  if (returned instanceof Promise) throw new Error(`the action ${action} of ${machine.id} returns a promise`);
}

function refuse(machine: AnyStateMachine, what: string): never {
  throw new Error(`machine ${machine.id} uses ${what}: record an intent of event.turn instead`);
}

function refuseUnsteppable(node: StateNode, machineId: string): void {
  const found = [
    node.invoke.length > 0 && "invoke",
    node.after.length > 0 && "after",
    (node.always?.length ?? 0) > 0 && "always",
    node.type === "history" && "history states",
  ].find((what) => what !== false);
  if (found !== undefined) throw new Error(`machine ${machineId} uses ${found} in ${node.id}: an actor cannot keep it`);
  for (const child of Object.values(node.states)) refuseUnsteppable(child, machineId);
}

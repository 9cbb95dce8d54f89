import type { Catalogue, Gate, Subscriber } from "../cells/actor-type.js";
import { type Address, address } from "../cells/address.js";
import { type FactMessage, subscriberKind } from "../cells/behaviour.js";
import type { Cells } from "../cells/cells.js";
import { type GateRequest, gateKind, type OpenGate } from "../cells/gate.machine.js";
import type { Batch } from "../turns/batch.js";
import type { Fact, GateAnswer, GateQuestion, Message } from "../turns/turn.js";
import type { Intent, TurnRecorder } from "../turns/turn-recorder.js";
import { Envelope } from "./envelope.js";
import type { UndeliveredMessages } from "./undelivered.js";

/**
 * Addresses and delivers messages between actors, including the messages of facts and gate questions.
 *
 * 1. A mailbox holds a limited number of messages. Further messages go to disk and are read back in order.
 */
export class MessageRouter {
  readonly #cells: Cells;
  readonly #undelivered: UndeliveredMessages;
  readonly #mailboxLimit: number;
  readonly #subscribers = new Map<string, Subscriber[]>();
  readonly #gates = new Map<string, Gate[]>();

  constructor(catalogue: Catalogue, cells: Cells, undelivered: UndeliveredMessages, mailboxLimit: number) {
    this.#cells = cells;
    this.#undelivered = undelivered;
    this.#mailboxLimit = mailboxLimit;
    for (const subscriber of catalogue.subscribers)
      for (const name of subscriber.facts) getOrCreateList(this.#subscribers, name).push(subscriber);
    for (const gate of catalogue.gates)
      for (const name of gate.questions) getOrCreateList(this.#gates, name).push(gate);
  }

  /** Adds the messages of an intent to `envelopes`. Throws if the catalogue does not have the receiver's actor kind. */
  route(intent: Intent, turn: TurnRecorder, envelopes: Envelope[]): void {
    switch (intent.kind) {
      case "send":
        if (intent.isFirst) this.#cells.begin(intent.to);
        envelopes.push(this.createEnvelope(intent.to, intent.message));
        return;
      case "publish":
        this.#publish(intent.fact, turn, envelopes);
        return;
      case "ask":
        envelopes.push(this.#question(intent.question, turn));
    }
  }

  /**
   * Creates the envelope of a message, and loads the receiver into memory. Throws if the catalogue does not have the
   * receiver's kind, or if the address is not a valid key.
   */
  createEnvelope(to: Address, message: Message): Envelope {
    if (this.#cells.activate(to).behaviour === undefined) throw new Error(`there is no actor kind ${to.kind}`);
    return Envelope.sent(to, message, this.#undelivered.nextSequence());
  }

  /** Delivers a message into the receiver's mailbox, or to disk if the mailbox is full. */
  deliver(envelope: Envelope, batch: Batch): void {
    const cell = this.#cells.activate(envelope.to);
    if (cell.hasUndelivered || cell.mailbox.length >= this.#mailboxLimit) {
      this.#undelivered.store(envelope);
      cell.hasUndelivered = true;
    } else {
      cell.mailbox.push(envelope);
      cell.readUpTo = envelope.sequence;
      batch.sent.push(envelope);
    }
    this.#cells.enqueue(cell);
  }

  #publish(fact: Fact, turn: TurnRecorder, envelopes: Envelope[]): void {
    const message: FactMessage = { type: "fact", fact };
    const { partition } = turn.self;
    for (const subscriber of this.#subscribers.get(fact.name) ?? []) {
      if (subscriber.hears?.(fact, partition, turn) === false) continue;
      envelopes.push(this.createEnvelope(address(partition, subscriberKind, subscriber.name), message));
    }
  }

  /**
   * Returns the message that opens a gate for the question. Without gatekeepers, returns the answer to the question
   * instead.
   */
  #question(question: GateQuestion, turn: TurnRecorder): Envelope {
    const { self } = turn;
    const requests: GateRequest[] = [];
    for (const { name, boundMs, gatekeepers } of this.#gates.get(question.name) ?? []) {
      for (const request of gatekeepers(question, self.partition, turn))
        requests.push({ ...request, gating: name, boundMs });
    }
    if (requests.length === 0) {
      const agreed: GateAnswer = { type: "gate.answered", gate: question.name, id: question.id, refused: null };
      return this.createEnvelope(self, agreed);
    }
    const open: OpenGate = { type: "gate.open", asker: self, gate: question.name, id: question.id, requests };
    return this.createEnvelope(address(self.partition, gateKind, turn.newId(gateKind)), open);
  }
}

function getOrCreateList<Item>(lists: Map<string, Item[]>, name: string): Item[] {
  const known = lists.get(name);
  if (known !== undefined) return known;
  const made: Item[] = [];
  lists.set(name, made);
  return made;
}

import type { Catalogue, Gate, Subscriber } from "./actor-type.js";
import { type Address, address } from "./address.js";
import type { Batch } from "./batch.js";
import { type FactMessage, subscriberKind } from "./behaviour.js";
import type { Cells } from "./cells.js";
import { Envelope } from "./envelope.js";
import { type GateRequest, gateKind, type OpenGate } from "./gate.machine.js";
import type { Fact, GateAnswer, GateQuestion, Message } from "./turn.js";
import type { Intent, TurnRecorder } from "./turn-recorder.js";
import type { UndeliveredMessages } from "./undelivered.js";

/**
 * Addresses and delivers messages between actors: those sent, those that facts and gate questions make.
 *
 * 1. A mailbox holds a bounded number of mails; what comes when it is full goes to disk and is read back in order.
 */
export class MessageRouter {
  readonly #cells: Cells;
  readonly #undelivered: UndeliveredMessages;
  readonly #mailboxLimit: number;
  readonly #subscribers = new Map<string, Subscriber[]>();
  readonly #gates = new Map<string, Gate[]>();

  constructor(catalogue: Catalogue, cells: Cells, mail: UndeliveredMessages, mailboxLimit: number) {
    this.#cells = cells;
    this.#undelivered = mail;
    this.#mailboxLimit = mailboxLimit;
    for (const hearing of catalogue.subscribers)
      for (const name of hearing.facts) getOrCreateList(this.#subscribers, name).push(hearing);
    for (const gating of catalogue.gates)
      for (const name of gating.questions) getOrCreateList(this.#gates, name).push(gating);
  }

  /** Adds what an intent of the turn sends. Throws when nobody can be there. */
  route(intent: Intent, turn: TurnRecorder, mails: Envelope[]): void {
    switch (intent.kind) {
      case "send":
        mails.push(this.createEnvelope(intent.to, intent.message));
        return;
      case "publish":
        this.#publish(intent.fact, turn, mails);
        return;
      case "ask":
        mails.push(this.#question(intent.question, turn));
    }
  }

  /** A mail to an actor, brought into memory by it. Throws when there is no such kind or no key for the address. */
  createEnvelope(to: Address, message: Message): Envelope {
    if (this.#cells.activate(to).behaviour === undefined) throw new Error(`there is no actor kind ${to.kind}`);
    return Envelope.sent(to, message, this.#undelivered.nextSequence());
  }

  /** Hands a mail over: into the mailbox, or to disk when that is full. */
  deliver(mail: Envelope, batch: Batch): void {
    const cell = this.#cells.activate(mail.to);
    if (cell.hasUndelivered || cell.mailbox.length >= this.#mailboxLimit) {
      this.#undelivered.store(mail);
      cell.hasUndelivered = true;
    } else {
      cell.mailbox.push(mail);
      cell.readUpTo = mail.sequence;
      batch.sent.push(mail);
    }
    this.#cells.enqueue(cell);
  }

  #publish(fact: Fact, { self }: TurnRecorder, mails: Envelope[]): void {
    const heard: FactMessage = { type: "fact", fact };
    for (const hearing of this.#subscribers.get(fact.name) ?? []) {
      mails.push(this.createEnvelope(address(self.partition, subscriberKind, hearing.name), heard));
    }
  }

  /** Opens a gate for the question, or answers it when no keeper is concerned. */
  #question(question: GateQuestion, turn: TurnRecorder): Envelope {
    const { self } = turn;
    const requests: GateRequest[] = [];
    for (const { name, boundMs, gatekeepers: keepers } of this.#gates.get(question.name) ?? []) {
      for (const request of keepers(question, self.partition, turn))
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

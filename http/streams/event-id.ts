import { sha256Hex } from "../../actors/sealer.js";
import type { Announced } from "./announcements.js";
import type { TopicStream } from "./topic-stream.js";

/** The point from which an event stream continues. */
export interface ResumePoint {
  /** The last sequence number that the reader received, by workspace. */
  readonly after: ReadonlyMap<string, number>;
  /** The topics whose state the reader still needs. The value is the kind of message that will send the state. */
  readonly behind: ReadonlyMap<string, "snapshot" | "reset">;
}

/**
 * Matches an event id, such as `47~0b6e1f2a`. The parts of an id:
 *
 * - The last sequence number of each workspace, joined by dots. The workspaces are in the order in which the stream's
 *   topics first name them.
 * - After a hyphen, the topics whose state the reader needs: a hexadecimal number with one bit per topic. Absent if
 *   there is no such topic.
 * - After `~`, a digest of the topics' names.
 */
const pattern = /^(\d{1,15}(?:\.\d{1,15}){0,199})(?:-([0-9a-f]{1,50}))?~([0-9a-f]{8})$/;

/** Creates and reads the ids of one event stream. An id lets the reader continue all topics of the stream. */
export class EventIds {
  readonly #announced: readonly Announced[];
  readonly #workspaceIds: readonly string[];
  readonly #digest: string;

  constructor(announced: readonly Announced[]) {
    this.#announced = announced;
    this.#workspaceIds = [...new Set(announced.map(({ subject }) => subject.workspaceId))];
    this.#digest = sha256Hex(announced.map(({ name }) => name).join(",")).slice(0, 8);
  }

  /** Returns the id for the next event, from the current position of the stream. */
  write(stream: Pick<TopicStream, "lastSeq" | "needsState">): string {
    const seqs = this.#workspaceIds.map((id) => stream.lastSeq(id)).join(".");
    let bits = 0n;
    for (const [index, { name }] of this.#announced.entries()) {
      if (stream.needsState(name)) bits |= 1n << BigInt(index);
    }
    return `${seqs}${bits === 0n ? "" : `-${bits.toString(16)}`}~${this.#digest}`;
  }

  /** Returns the point at which a new reader starts. A new reader needs the state of each topic. */
  start(kind: "snapshot" | "reset" = "snapshot"): ResumePoint {
    return { after: new Map(), behind: new Map(this.#announced.map(({ name }) => [name, kind])) };
  }

  /**
   * Returns the resume point that an id describes. If the id is from a stream with other topics, the reader needs the
   * state of each topic. Returns null if the text is not an id.
   */
  read(id: string): ResumePoint | null {
    const [, seqs = "", hex = "0", digest] = pattern.exec(id) ?? [];
    if (digest === undefined) return null;
    const numbers = seqs.split(".").map(Number);
    if (digest !== this.#digest || numbers.length !== this.#workspaceIds.length) return this.start("reset");
    const bits = BigInt(`0x${hex}`);
    const behind = this.#announced.filter((_, index) => ((bits >> BigInt(index)) & 1n) === 1n);
    return {
      after: new Map(this.#workspaceIds.map((workspaceId, index) => [workspaceId, numbers[index] ?? 0])),
      behind: new Map(behind.map(({ name }) => [name, "reset"])),
    };
  }
}

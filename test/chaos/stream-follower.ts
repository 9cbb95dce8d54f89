import { setTimeout as pause } from "node:timers/promises";
import WebSocket from "ws";
import type { StreamMessage } from "../support/stream-reader.js";

type Row = Readonly<Record<string, unknown>> & { readonly id: string };

interface FollowerOptions {
  readonly baseUrl: () => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly teamId: string;
  readonly onComplaint: (what: string) => void;
}

const PAUSE_MS = 50;
/** Tasks of a snapshot of a team. */
const KEPT = 100;

/**
 * Follows a team's topic over every life of the service, going on behind the last number that it saw, and applies what
 * comes to a picture of the team's tasks.
 */
export class StreamFollower {
  readonly #options: FollowerOptions;
  #socket: WebSocket | null = null;
  #isOver = false;
  #seq = -1;
  #tasks = new Map<string, Row>();
  /** Ids of all tasks that it was told of. */
  readonly seen = new Set<string>();

  constructor(options: FollowerOptions) {
    this.#options = options;
    void this.#follow();
  }

  /** The newest tasks as it knows them, by id, newest first. */
  get picture(): readonly Row[] {
    return [...this.#tasks.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, KEPT);
  }

  end(): void {
    this.#isOver = true;
    this.#socket?.terminate();
  }

  async #follow(): Promise<void> {
    while (!this.#isOver) {
      const socket = new WebSocket(`${this.#options.baseUrl().replace("http", "ws")}/api/stream`, {
        headers: this.#options.headers,
      });
      this.#socket = socket;
      socket.on("error", () => undefined);
      socket.once("open", () => {
        const subscribe = `team/${this.#options.teamId}`;
        socket.send(JSON.stringify(this.#seq < 0 ? { subscribe } : { subscribe, after: this.#seq }));
      });
      socket.on("message", (data) => this.#hear(JSON.parse(data.toString())));
      await new Promise((resolve) => socket.once("close", resolve));
      await pause(PAUSE_MS);
    }
  }

  #hear({ seq, kind, data }: StreamMessage): void {
    const { teamId, onComplaint } = this.#options;
    if (kind === "error") return onComplaint(`the stream of team ${teamId} ended: ${JSON.stringify(data)}`);
    if (kind === "change" && seq <= this.#seq) onComplaint(`a change ${seq} came after ${this.#seq}`);
    this.#seq = Math.max(this.#seq, seq);
    if (kind === "change") {
      if (data.type === "task") this.#assign(data.task as Row);
      return;
    }
    this.#tasks = new Map();
    for (const task of data.tasks as readonly Row[]) this.#assign(task);
  }

  #assign(task: Row): void {
    this.seen.add(task.id);
    this.#tasks.set(task.id, { ...this.#tasks.get(task.id), ...task });
  }
}

/** The tasks of a snapshot of the team as it is now. */
export async function readSnapshot(options: Omit<FollowerOptions, "onComplaint">): Promise<readonly Row[]> {
  const socket = new WebSocket(`${options.baseUrl().replace("http", "ws")}/api/stream`, { headers: options.headers });
  socket.once("open", () => socket.send(JSON.stringify({ subscribe: `team/${options.teamId}` })));
  try {
    const { data } = await new Promise<StreamMessage>((resolve, reject) => {
      socket.once("message", (text) => resolve(JSON.parse(text.toString())));
      socket.once("error", reject);
    });
    return data.tasks as readonly Row[];
  } finally {
    socket.terminate();
  }
}

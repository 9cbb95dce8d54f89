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
/** Number of tasks in a team's snapshot. */
const KEPT = 100;

/**
 * Follows a team's topic across restarts of the service. The follower resumes after the last sequence number that it
 * has received, and applies the changes to its own view of the team's tasks.
 */
export class StreamFollower {
  readonly #options: FollowerOptions;
  #socket: WebSocket | null = null;
  #isOver = false;
  #seq = -1;
  #tasks = new Map<string, Row>();
  /** Ids of all tasks that the follower received. */
  readonly seen = new Set<string>();

  constructor(options: FollowerOptions) {
    this.#options = options;
    void this.#follow();
  }

  /** The newest tasks in the follower's view, newest first. */
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

/** Reads the tasks in a fresh snapshot of the team. */
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

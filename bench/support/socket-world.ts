/** A service's topics, for the process of the readers: where to write changes, and who reads them. */
export interface SocketWorld {
  readonly port: number;
  /** The path for the sockets. */
  readonly path: string;
  readonly topics: readonly SocketTopic[];
  /** A topic without readers. */
  readonly silent: SocketTopic;
}

export interface SocketTopic {
  readonly name: string;
  /** A POST that makes a change; `TITLE` in its body is replaced by the change's title. */
  readonly write: { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly body: string };
  /** The `authorization` headers of the topic's readers, one per socket. */
  readonly readers: readonly string[];
}

/** The number of topics, and of sockets per topic. */
export interface SocketCounts {
  readonly topics: number;
  readonly socketsOnTopic: number;
}

/** An order for a service's process; the first one opens the service. */
export type ServiceOrder =
  | { readonly open: SocketCounts; readonly bare: BareWorld | null }
  | { readonly ask: "cpu" }
  | { readonly ask: "close" };

/** The topics that a bare server serves, and the text of a change that it sends. */
export interface BareWorld {
  readonly topics: readonly SocketTopic[];
  readonly silent: SocketTopic;
  readonly text: string;
}

/** Placeholder for the title in the body of a write. */
export const TITLE = "{title}";

/** Returns the title of a change. All titles have the same length, so that a reader can find them in messages. */
export function toTitle(change: number): string {
  return `change-${String(change).padStart(9, "0")}`;
}

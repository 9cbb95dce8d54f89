/** Where changes are written, and who reads them: what the process that does both is told of a service. */
export interface SocketWorld {
  readonly port: number;
  /** Where the sockets are opened. */
  readonly path: string;
  readonly topics: readonly SocketTopic[];
  /** A topic that nobody reads. */
  readonly silent: SocketTopic;
}

export interface SocketTopic {
  readonly name: string;
  /** A POST that makes a change; `TITLE` in its body is replaced by the change's title. */
  readonly write: { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly body: string };
  /** The `authorization` headers of its readers, one for each socket. */
  readonly readers: readonly string[];
}

/** How many sockets a service is to have, on how many topics. */
export interface SocketCounts {
  readonly topics: number;
  readonly socketsOnTopic: number;
}

/** What the process of a service is told: first of all to open it. */
export type ServiceOrder =
  | { readonly open: SocketCounts; readonly bare: BareWorld | null }
  | { readonly ask: "cpu" }
  | { readonly ask: "close" };

/** The world that a bare server copies, and the text of a change in it. */
export interface BareWorld {
  readonly topics: readonly SocketTopic[];
  readonly silent: SocketTopic;
  readonly text: string;
}

/** What stands for the title in the body of a write. */
export const TITLE = "{title}";

/** The title of a change, of one length, so that it is found in the texts of its messages. */
export function titleOf(change: number): string {
  return `change-${String(change).padStart(9, "0")}`;
}

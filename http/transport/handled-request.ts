import type { FairTurns } from "../limits/fair-turns.js";
import { clientName } from "../wire/headers.js";
import type { RouteRequest } from "../wire/route.js";
import type { EntryOptions } from "./entry.js";
import type { TransportRequest } from "./transport.js";

/** The parsed request, and the client whose turns it takes. */
type Parsed = Pick<RouteRequest, "params" | "query" | "body" | "caller" | "requestId"> & { readonly client: string };

/** A request as its handler sees it. It computes rarely used values on demand. */
export class HandledRequest implements RouteRequest {
  readonly params: RouteRequest["params"];
  readonly query: unknown;
  readonly body: unknown;
  readonly caller: RouteRequest["caller"];
  readonly requestId: string;
  readonly #turnsClient: string;
  readonly #options: Pick<EntryOptions, "clientAddress"> & { readonly turns: FairTurns };
  readonly #incoming: TransportRequest;
  #lateness: AbortController | null = null;

  constructor(
    options: Pick<EntryOptions, "clientAddress"> & { readonly turns: FairTurns },
    incoming: TransportRequest,
    { params, query, body, caller, requestId, client }: Parsed,
  ) {
    this.params = params;
    this.query = query;
    this.body = body;
    this.caller = caller;
    this.requestId = requestId;
    this.#turnsClient = client;
    this.#options = options;
    this.#incoming = incoming;
  }

  get header(): RouteRequest["header"] {
    const incoming = this.#incoming;
    return (name) => incoming.header(name);
  }

  get headers(): RouteRequest["headers"] {
    const incoming = this.#incoming;
    return () => incoming.headers();
  }

  get client(): string {
    return clientName(this.#incoming.header("service-client"));
  }

  get pause(): RouteRequest["pause"] {
    const { turns } = this.#options;
    const client = this.#turnsClient;
    return () => turns.next(client);
  }

  get goOn(): RouteRequest["goOn"] {
    const { turns } = this.#options;
    const client = this.#turnsClient;
    return () => turns.goOn(client);
  }

  get remoteAddress(): string {
    return this.#options.clientAddress(this.#incoming);
  }

  get signal(): AbortSignal {
    this.#lateness ??= new AbortController();
    return AbortSignal.any([this.#incoming.signal, this.#lateness.signal]);
  }

  /** Aborts the signal, if the handler has read it. */
  abort(): void {
    this.#lateness?.abort();
  }
}

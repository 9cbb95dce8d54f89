/** An answer of the API. */
export interface HostedReply {
  readonly status: number;
  readonly json: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

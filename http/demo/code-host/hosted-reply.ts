/** What the API answers. */
export interface HostedReply {
  readonly status: number;
  readonly json: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

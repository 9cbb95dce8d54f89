import type { Reply } from "../processes/service-process.js";

/** The error for an unexpected answer of the service. */
export class Refused extends Error {
  readonly status: number;

  constructor(what: string, { status, body }: Pick<Reply, "status" | "body">) {
    super(`${what} answered ${status} ${JSON.stringify(body)}`);
    this.status = status;
  }
}

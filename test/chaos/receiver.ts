import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { hookSecret } from "../support/hook-receiver.js";

/** How a receiver answers. */
export type Manner = "well" | "hangs" | "resets" | "trickles" | "answers junk";

/** A hook request, as a receiver got it. */
export interface HookArrival {
  /** The header `webhook-id`, unique per hook occurrence and step. */
  readonly id: string;
  /** The hook occurrence, `occ_…`. */
  readonly firingId: string;
  readonly digest: string;
  readonly isSigned: boolean;
  readonly taskId: string;
  /**
   * Whether the receiver answered the request with success. For an event with `after` timing, the status is enough. For
   * an event with `before` timing, the answer must be complete.
   */
  isTaken: boolean;
}

/** The fields of a hook request's body that the receiver reads. */
interface HookBody {
  readonly task: { readonly id: string; readonly title: string };
}

/**
 * The data that a receiver needs to write a note: the address, token and task from a hook request, and the request's
 * id.
 */
export interface Callback {
  readonly url: string;
  readonly token: string;
  readonly taskId: string;
  readonly id: string;
}

const TRICKLE_MS = 100;
const webhook = new Webhook(hookSecret);

/**
 * A hook receiver on its own port. It answers as `manner` says, but never answers requests to the path `/hang`. In the
 * manner `well`, it accepts all requests with one exception: on the path `/ask`, it refuses events of tasks whose title
 * starts with `veto`.
 */
export class Receiver {
  readonly arrivals: HookArrival[] = [];
  manner: Manner = "well";
  /** Called for each request that was answered in the manner `well`. */
  onTaken: (callback: Callback) => void = () => undefined;
  readonly #server: Server;
  #junk = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#take(request, response).catch(() => response.destroy());
    });
    this.#server.requestTimeout = 0;
  }

  static async open(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    if (request.url === "/hang") return;
    const text = Buffer.concat(chunks).toString("utf8");
    const { task }: HookBody = JSON.parse(text);
    const arrival = toArrival(request, text, task.id);
    this.arrivals.push(arrival);
    const isAsked = request.url === "/ask";
    if (this.manner !== "well") {
      this.#misbehave(response);
      arrival.isTaken = !isAsked && response.headersSent && response.statusCode === 200;
      return;
    }
    const isRefused = isAsked && task.title.startsWith("veto");
    response.once("finish", () => {
      arrival.isTaken = true;
      const url = toHeader(request, "service-callback-url");
      this.onTaken({ url, token: toHeader(request, "service-callback-token"), taskId: task.id, id: arrival.id });
    });
    response.end(isRefused ? '{"refuse":"not this one"}' : "{}");
  }

  #misbehave(response: ServerResponse): void {
    if (this.manner === "resets") return void response.socket?.resetAndDestroy();
    if (this.manner === "trickles") {
      response.writeHead(200, { "content-length": 10_000 });
      const drop = setInterval(() => response.write(" "), TRICKLE_MS);
      response.once("close", () => clearInterval(drop));
    }
    if (this.manner === "answers junk") this.#answerJunk(response);
  }

  /** Answers in one of three wrong ways, in rotation. */
  #answerJunk(response: ServerResponse): void {
    this.#junk += 1;
    const kind = this.#junk % 3;
    if (kind === 0) response.writeHead(503).end(Buffer.alloc(100_000, 0xff));
    if (kind === 1) response.socket?.end("SSH-2.0-OpenSSH_9.2\r\n\r\n");
    if (kind === 2) {
      response.writeHead(200, { "content-length": 1_000 }).write("{");
      response.socket?.end();
    }
  }
}

function toArrival(request: IncomingMessage, text: string, taskId: string): HookArrival {
  const id = toHeader(request, "webhook-id");
  return {
    id,
    taskId,
    firingId: `occ_${id.split("_")[1] ?? ""}`,
    isTaken: false,
    digest: createHash("sha256").update(text).digest("hex"),
    isSigned: isSigned(request, text),
  };
}

function toHeader(request: IncomingMessage, name: string): string {
  return String(request.headers[name] ?? "");
}

/**
 * Whether the signature equals that of the reference library. The check uses the time in the request, because the
 * service's clock is stepped.
 */
function isSigned(request: IncomingMessage, text: string): boolean {
  const at = new Date(Number(toHeader(request, "webhook-timestamp")) * 1_000);
  return webhook.sign(toHeader(request, "webhook-id"), at, text) === toHeader(request, "webhook-signature");
}

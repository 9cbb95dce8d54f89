import { writeJson } from "../../actors/exact-json.js";
import { assertSendable } from "../wire/headers.js";
import { problemAnswer } from "../wire/problem.js";
import type { Outcome } from "../wire/route.js";
import type { ServerOptions } from "./edge.js";
import { refusalOf } from "./refusal-of.js";
import type { TransportAnswer, TransportRequest } from "./transport.js";

/** Maximum time for a client to receive one piece of a streamed response, in milliseconds. */
const STREAM_IDLE_MS = 30_000;
/** Maximum time for a whole streamed response, in milliseconds. Its source stays open for that time. */
const STREAM_WHOLE_MS = 5 * 60_000;

/** The outcome that the client gets, with its encoded response. */
interface Encoded {
  readonly outcome: Outcome;
  readonly answer: TransportAnswer;
}

/** Encodes the outcome of a request. An error becomes a refusal. */
export function encodeOutcome(
  options: Pick<ServerOptions, "admission" | "clientAddress" | "failed">,
  { requestId, incoming }: { readonly requestId: string; readonly incoming: TransportRequest },
  handled: Outcome,
): Encoded {
  try {
    const isFailure = "refused" in handled && handled.refused === "unauthenticated";
    const outcome = (isFailure ? options.admission.ofFailure(options.clientAddress(incoming)) : null) ?? handled;
    const answer = encode(outcome);
    assertSendable(answer.headers);
    return { outcome, answer };
  } catch (error) {
    const outcome = refusalOf(error, requestId, options.failed);
    return { outcome, answer: problemAnswer(outcome) };
  }
}

function encode(answer: Outcome): TransportAnswer {
  if ("refused" in answer) return problemAnswer(answer);
  if (answer.stream !== undefined) {
    const headers = { "content-type": "application/json", ...answer.headers };
    const { length, pieces, close } = answer.stream;
    const times = { idleMs: STREAM_IDLE_MS, wholeMs: STREAM_WHOLE_MS };
    return { status: answer.status, headers, stream: { length, pieces, close: () => close(), ...times } };
  }
  if (answer.text !== undefined) {
    const headers = { "content-type": answer.text.type, ...answer.headers };
    return { status: answer.status, headers, body: answer.text.content };
  }
  if (answer.body === undefined && answer.json === undefined) {
    return { status: answer.status, headers: { ...answer.headers }, body: "" };
  }
  return {
    status: answer.status,
    headers: { "content-type": "application/json", ...answer.headers },
    body: answer.json ?? writeJson(answer.body),
  };
}

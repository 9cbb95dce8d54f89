import type { Reading } from "../../../storage/store.js";
import type { Names } from "../../expressions/evaluate.js";
import { coversAddress } from "../../resources/fields.js";
import type { Sealer } from "../../sealer.js";
import type { ReadBodies } from "../read-bodies.js";
import { addCredential, findActing, findSecretHeader, type NotSent } from "./credentials.js";
import { type FoundRequest, findRequest } from "./find-request.js";
import type { IntegrationRequestInput } from "./integration-request.js";
import { createMask, type Mask } from "./mask.js";
import { type RenderedRequest, renderRequest } from "./render-request.js";
import { toRequestDigest } from "./request-digest.js";
import { toNames, writesToken } from "./request-names.js";

/** A request that is ready to be sent, with the data to read its response. */
export interface PreparedRequest {
  readonly found: FoundRequest;
  readonly request: RenderedRequest;
  /** The names that the request's expressions saw, including `connection`. */
  readonly names: Names;
  readonly mask: Mask;
  /**
   * Returns the headers with the team's secret for a redirect to this address. Returns no headers if the secret is not
   * bound to the address.
   */
  readonly credentialAt: (url: URL) => Readonly<Record<string, string>>;
}

interface PrepareOptions {
  readonly reading: () => Reading;
  readonly sealer: Pick<Sealer, "open">;
  /** The service's base URL. */
  readonly baseUrl: () => string;
  readonly bodies?: ReadBodies;
}

/**
 * Evaluates a request and checks that it may be sent, but does not send it. Returns the prepared request, or the reason
 * why it may not be sent.
 */
export function prepareRequest(
  { reading: read, sealer, baseUrl, bodies }: PrepareOptions,
  {
    workspaceId,
    input,
    nowMs,
  }: { readonly workspaceId: string; readonly input: IntegrationRequestInput; readonly nowMs: number },
): PreparedRequest | NotSent {
  const reading = read();
  const found = findRequest(reading, workspaceId, input);
  if (found === null) return { code: "broken", reason: "the integration no longer has the requested action" };
  const { block, approvedDigest } = input;
  const isOther =
    approvedDigest !== undefined &&
    (block.kind !== "action" ||
      toRequestDigest(block.name, found.request, found.integration.fields) !== approvedDigest);
  if (isOther) return { code: "not-allowed", reason: "the action has changed since it was approved" };
  const scope = { reading, sealer, integration: found.integration };
  const acting = findActing(scope, input, nowMs);
  if ("code" in acting) return acting;
  const seen = toNames({ reading, workspaceId, baseUrl: baseUrl(), bodies }, { found, input });
  if (seen === null) return { code: "unwritable", reason: "the data for its expressions is too large" };
  const names = acting.token === null ? seen : { ...seen, connection: acting.token };
  const rendered = renderRequest(found.request, names);
  // Mask the token in the reason: the reason may contain the address, and an expression may have written the token into
  // the address.
  const refuse = ({ code, reason }: NotSent): NotSent => ({ code, reason: createMask(acting.secrets).text(reason) });
  if ("error" in rendered) return refuse({ code: "unwritable", reason: rendered.error });
  const { hosts } = found.integration.fields;
  if (!coversAddress(hosts, rendered.url)) {
    const reason = `the host ${rendered.url.host} is not among the integration's hosts`;
    return refuse({ code: "not-allowed", reason });
  }
  const carried = addCredential(scope, acting, { request: rendered, writesToken: writesToken(found) });
  if ("code" in carried) return refuse(carried);
  const request = withMessageId(carried.request, input.messageId);
  const credentialAt = (url: URL) => findSecretHeader({ ...scope, reading: read() }, url);
  return { found, request, names, mask: createMask([...acting.secrets, ...carried.secrets]), credentialAt };
}

function withMessageId(request: RenderedRequest, messageId: string | undefined): RenderedRequest {
  if (messageId === undefined) return request;
  return { ...request, headers: { ...request.headers, "service-message-id": messageId } };
}

/** Finds hook requests that the deployment's settings block. */
import type { Reading } from "../../storage/store.js";
import { isTemplate, readTemplate } from "../expressions/templates.js";
import { literalHost } from "../integrations/integration-rules.js";
import { type AllowList, findRefusalReason } from "../outbound/http/allow-list.js";
import type { Warning } from "../resources/kind.js";
import { isWorkspaceOpen, listResources } from "../resources/resource.table.js";
import type { HookFields, HookStep } from "./hook.js";

/**
 * Returns why the address of a step's request is not allowed; null if it is allowed. Also returns null if expressions
 * set the host. A null `allowList` allows any address that the service itself requests.
 */
export function findAddressFault(
  { url: given, from }: Pick<NonNullable<HookStep["request"]>, "url" | "from">,
  allowList: AllowList | null,
): string | null {
  const url = withoutExpressions(given);
  if (url === null) return null;
  if (from === "network") return networkFault(url);
  return allowList === null ? null : findRefusalReason(url, allowList);
}

/**
 * Returns a warning for each request whose address the deployment no longer allows. The address was allowed when the
 * hook was saved.
 */
export function addressWarnings({ steps }: HookFields, allowList: AllowList): readonly Warning[] {
  return steps.flatMap(({ request }, index) => {
    const fault = request === null ? null : findAddressFault(request, allowList);
    if (fault === null) return [];
    const message = `the step fails with not-allowed: ${fault}`;
    return [{ path: `steps[${index}].request.url`, message, severity: "warning" as const }];
  });
}

/** A hook with a step whose request is blocked. */
export interface UnsentRequest {
  readonly workspaceId: string;
  readonly hookId: string;
  /** `<team key>/<hook key>` */
  readonly address: string;
  readonly step: string;
  /** Names the host and the setting, but nothing else of the address, which may contain a secret. */
  readonly reason: string;
}

/**
 * Lists the blocked requests of the workspace's hooks, unless an expression sets the host; none if the workspace is
 * closed.
 */
export function listUnsentRequests(reading: Reading, workspaceId: string, allowList: AllowList): UnsentRequest[] {
  if (!isWorkspaceOpen(reading, workspaceId)) return [];
  return listResources<HookFields>(reading, workspaceId, "hook").flatMap(({ id: hookId, address, fields }) =>
    fields.steps.flatMap(({ name: step, request }) => {
      const reason = request === null ? null : findAddressFault(request, allowList);
      return reason === null ? [] : [{ workspaceId, hookId, address, step, reason }];
    }),
  );
}

/**
 * Returns an address with a letter in place of each expression. Returns null if expressions set the host: the service
 * then checks the address when it sends the request.
 */
function withoutExpressions(url: string): string | null {
  if (!isTemplate(url)) return url;
  const read = readTemplate(url);
  if ("fault" in read || literalHost(url) === null) return null;
  return read.template.map((part) => (typeof part === "string" ? part : "x")).join("");
}

/**
 * Returns why a host of the workspace cannot request the address; null if it can. A host may request any http or https
 * address of the workspace's network.
 */
function networkFault(url: string): string | null {
  return /^https?:\/\//i.test(url) && URL.canParse(url)
    ? null
    : "must be an address such as http://build.internal/hook";
}

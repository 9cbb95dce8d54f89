/**
 * Runs a hook step that calls a tool. The service builds the request as for an agent's call. The timeout, the failure
 * codes and the refusals are those of a hook step.
 */

import type { Clock } from "../../../runtime/clock.js";
import type { RunSignal } from "../../../runtime/effects/run-signal.js";
import type { Reading } from "../../../storage/store.js";
import type { WorkEvent } from "../../events/catalogue.js";
import { writeJson } from "../../exact-json.js";
import { DYN } from "../../expressions/cel-types.js";
import type { Names } from "../../expressions/evaluate.js";
import { integrationNames } from "../../expressions/positions.js";
import { evaluateJson } from "../../expressions/templates.js";
import { toValue } from "../../expressions/values.js";
import type {
  IntegrationRequestCode,
  IntegrationRequestInput,
} from "../../integrations/requests/integration-request.js";
import {
  type PreparedRequest as PreparedIntegrationRequest,
  prepareRequest,
} from "../../integrations/requests/prepare-request.js";
import { sendRequest } from "../../integrations/requests/send-request.js";
import { checkInputs } from "../../integrations/tool-inputs.js";
import { findOfferedTool } from "../../integrations/tools.js";
import type { Outbound } from "../../outbound/http/request.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { getTeamKey } from "../../resources/resource-indexes.table.js";
import type { Sealer } from "../../sealer.js";
import { cutBytes } from "../../tables/cut-bytes.js";
import type { HookFields, HookStep } from "../hook.js";
import type { DeliveryResult } from "./delivery-result.js";
import type { HookFailureCode, UnpreparedRequest } from "./failure-codes.js";
import { MAX_OUTPUT_BYTES } from "./hook-answer.js";
import { recordCall } from "./recorded-request.js";

/** A call that is ready to be sent. */
export interface PreparedCall {
  readonly kind: "call";
  readonly step: string;
  readonly input: Omit<IntegrationRequestInput, "timeoutMs">;
  readonly request: PreparedIntegrationRequest;
}

export interface CallStep {
  readonly hook: ResourceRow<HookFields>;
  readonly step: HookStep & { readonly call: string };
  readonly work: WorkEvent;
  /** Returns the names that the step's expressions see. */
  readonly names: () => Names;
  /** The id of the message, which is the same for every attempt of the step. */
  readonly messageId: string;
  readonly nowMs: number;
}

/**
 * Returns the tool's request with the step's inputs. If the request cannot be prepared, returns the reason. The caller
 * has already checked that hooks may call the tool.
 */
export function prepareCall(
  options: { readonly reading: () => Reading; readonly sealer: Sealer; readonly baseUrl: () => string },
  { hook, step, work, names, messageId, nowMs }: CallStep,
): PreparedCall | UnpreparedRequest {
  const reading = options.reading();
  const { workspaceId, teamId } = hook;
  const failed = (code: HookFailureCode, reason: string) => ({ step: step.name, code, reason });
  const found = findOfferedTool(reading, { workspaceId, teamKey: getTeamKey(reading, workspaceId, teamId) }, step.call);
  if (found === undefined) return failed("not-allowed", `no integration of the team offers ${step.call}`);
  const given = evaluateJson(step.with ?? {}, names());
  if ("error" in given) return failed("unwritable", `with: ${given.error}`);
  const { line, station, stationKey, marks } = work.task;
  const task = { line, station, stationKey, marks };
  const checked = checkInputs(found.tool.inputs, given.value, { task: toValue(task, integrationNames.task ?? DYN) });
  if ("errors" in checked) {
    const [first] = checked.errors;
    return failed("unwritable", `the input ${first?.path} ${first?.message}`);
  }
  const input: PreparedCall["input"] = {
    teamId: teamId ?? "",
    integrationId: found.integration.id,
    block: { kind: "action", name: found.tool.action },
    values: writeJson({ task, inputs: checked.inputs }),
    after: { kind: "tool", name: found.name },
    actsAs: { kind: "team" },
    again: "never",
    lane: "background",
    messageId,
  };
  const request = prepareRequest(options, { workspaceId, input: { ...input, timeoutMs: 0 }, nowMs });
  if ("code" in request) return failed(toHookCode(request.code), request.reason);
  return { kind: "call", step: step.name, input, request };
}

/**
 * Makes the call. The call's timeout starts now. On a `before` event, the call fails if the service could not read the
 * tool's complete response: the unread part may contain a refusal.
 */
export async function makeCall(
  options: { readonly outbound: Pick<Outbound, "send">; readonly clock: Clock },
  {
    prepared,
    timeoutMs,
    isBefore,
  }: { readonly prepared: PreparedCall; readonly timeoutMs: number; readonly isBefore: boolean },
  signal: RunSignal,
): Promise<DeliveryResult> {
  const { step, request, input } = prepared;
  const result = await sendRequest(options, { prepared: request, input: { ...input, timeoutMs } }, signal);
  const { at, tookMs, status, success, output, response, reason, retryAfterMs, partly, refuses } = result;
  const body = cutBytes((success ? output : response) ?? "", MAX_OUTPUT_BYTES);
  const requestHeaders = { "service-message-id": input.messageId ?? "" };
  const attempt = { step, at, tookMs, ...recordCall(prepared.request), requestHeaders, status, body, retryAfterMs };
  if (isBefore && success && partly !== undefined)
    return { ...attempt, code: "tool-failed", reason: `its answer cannot be read: ${partly}` };
  const code = result.code === null ? null : toHookCode(result.code);
  return { ...attempt, code, reason, ...(isBefore && refuses !== undefined ? { refuses } : {}) };
}

/** Converts a tool's failure to the step's failure code (configuration API, Hook step failure codes). */
function toHookCode(code: IntegrationRequestCode): HookFailureCode {
  return code === "timeout" || code === "not-allowed" || code === "unwritable" ? code : "tool-failed";
}

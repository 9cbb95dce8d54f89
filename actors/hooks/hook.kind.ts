import { seesOutcomes } from "../access/visibility/visibility.js";
import { workEvents } from "../events/catalogue.js";
import { isTemplate } from "../expressions/templates.js";
import { checkInputs } from "../integrations/tool-inputs.js";
import { findOfferedTool, toToolReference } from "../integrations/tools.js";
import type { AllowList } from "../outbound/http/allow-list.js";
import { type FieldError, pathText } from "../refusal.js";
import type { Kind, Reference, WriteScope } from "../resources/kind.js";
import { SIGNING_SECRET, storePreviousSecret } from "./delivery/secret-rotation.machine.js";
import { type HookFields, type HookStep, hookSchema, plainName } from "./hook.js";
import { expressionErrors, hookSizeErrors } from "./hook-expressions.js";
import { hookHealthSchema } from "./hook-health.js";
import { readHookHealth, removeHookHealth } from "./hook-health.table.js";
import { lookupKeys } from "./matching/lookup-keys.js";
import { addressWarnings, findAddressFault } from "./unsent-requests.js";
import { hookWarnings } from "./unsupported-steps.js";

/** A team's rule that runs steps when an event happens to one of its tasks. */
export function hookKind(deployment: {
  readonly allowList: AllowList;
  readonly signsTokens: boolean;
  /** For how many hours after a rotation the service also signs requests with the previous secret; 0 for none. */
  readonly rotationHours?: number;
}): Kind<HookFields> {
  const rotationMs = (deployment.rotationHours ?? 0) * 60 * 60 * 1_000;
  return {
    name: "hook",
    plural: "hooks",
    idPrefix: "hook",
    heldBy: "team",
    permission: "configure",
    schema: hookSchema,
    findSizeErrors: hookSizeErrors,
    fixed: ["key"],
    hcl: { omitted: ["health"] },
    hidden: [
      {
        path: SIGNING_SECRET,
        keep: "sealed",
        isRepeated: ({ signing }, { signing: before }) => signing?.secretVersion === before?.secretVersion,
        staysWith: ({ signing }) => signing?.secretVersion !== undefined,
      },
    ],
    address: (fields, teamKey) => `${teamKey}/${fields.key}`,
    references,
    title: ({ key }) => key,
    live: {
      schemas: { health: hookHealthSchema },
      read: ({ reading, row, caller, nowMs }) => {
        const isShown = seesOutcomes(reading, caller, row.workspaceId, row.teamId ?? "");
        return { health: isShown ? readHookHealth(reading, row, nowMs) : null };
      },
    },
    lookupKeys: { what: "event", keys: lookupKeys },
    warnings: (fields, reading, row) => [
      ...hookWarnings(fields, reading, row),
      ...addressWarnings(fields, deployment.allowList),
    ],
    afterUpdate: (writing, { row, previous }, now) => {
      if (rotationMs > 0) storePreviousSecret(writing, row, previous, now + rotationMs);
    },
    afterDelete: removeHookHealth,
    // Pass null for the allow list: whether a definition is valid does not depend on the deployment's outbound
    // settings.
    validateDefinition: (fields) => [...checkEvent(fields), ...checkSteps(fields, null)],
    validate: (fields, scope) => [
      ...checkEvent(fields),
      ...checkSteps(fields, deployment.allowList),
      ...expressionErrors(fields),
      ...callErrors(fields, scope),
      ...checkSigning(fields, scope, deployment.signsTokens),
    ],
  };
}

function references({ match, steps }: HookFields, teamKey: string): readonly Reference[] {
  const lines = match.lines.map((key, index) => ({
    path: `match.lines[${index}]`,
    kind: "line",
    address: `${teamKey}/${key}`,
  }));
  const stations = match.stations.map((key, index) => ({
    path: `match.stations[${index}]`,
    kind: "line",
    key,
    missing: `no line of the team has a station ${key}`,
  }));
  const tools = match.tools.map((tool, index) => toToolReference(tool, `match.tools[${index}]`, teamKey));
  const calls = steps.flatMap(({ call }, index) =>
    call === null ? [] : [toToolReference(call, `steps[${index}].call`, teamKey)],
  );
  return [...lines, ...stations, ...tools, ...calls];
}

function checkEvent(fields: HookFields): FieldError[] {
  const errors: FieldError[] = [];
  const rule = workEvents[fields.on];
  if (!rule.tools && fields.match.tools.length > 0) {
    errors.push({ path: "match.tools", message: "is allowed only on tool.using and tool.used" });
  }
  if (!rule.paths && fields.match.paths.length > 0) {
    errors.push({ path: "match.paths", message: "is allowed only on pull-request.opening and pull-request.merged" });
  }
  if (fields.failure === "block" && rule.timing === "after") {
    errors.push({ path: "failure", message: "can only be block on a before event" });
  }
  return errors;
}

function checkSteps(fields: HookFields, allowList: AllowList | null): FieldError[] {
  const names = fields.steps.map((one) => one.name);
  return fields.steps.flatMap((one, index) => {
    const path = `steps[${index}]`;
    const errors: FieldError[] = [];
    if (names.indexOf(one.name) < index) errors.push({ path: `${path}.name`, message: "stands twice" });
    if ((one.call === null) === (one.request === null)) {
      errors.push({ path, message: "must name exactly one of call and request" });
    }
    if (one.with !== null && one.call === null) {
      errors.push({ path: `${path}.with`, message: "only goes with call" });
    }
    if (one.request !== null) errors.push(...checkRequest(one.request, `${path}.request`, allowList));
    return errors;
  });
}

function checkRequest(
  given: NonNullable<HookStep["request"]>,
  path: string,
  allowList: AllowList | null,
): FieldError[] {
  const errors: FieldError[] = [];
  const named = new Set<string>();
  for (const header of Object.keys(given.headers)) {
    if (named.has(header.toLowerCase())) {
      errors.push({
        path: `${path}.headers${member(header)}`,
        message: "stands twice, but for upper and lower case",
      });
    }
    named.add(header.toLowerCase());
    if (/^(authorization|content-type|host)$|^(webhook|service)-/i.test(header)) {
      errors.push({ path: `${path}.headers${member(header)}`, message: "is set by the service" });
    }
    if (/^(connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/i.test(header)) {
      errors.push({
        path: `${path}.headers${member(header)}`,
        message: "is a connection header, not a request header",
      });
    }
  }
  const fault = findAddressFault(given, allowList);
  if (fault !== null) errors.push({ path: `${path}.url`, message: fault });
  return errors;
}

function checkSigning(fields: HookFields, scope: WriteScope<HookFields>, signsTokens: boolean): FieldError[] {
  const makesRequest = fields.steps.some((one) => one.request !== null);
  const given = fields.signing;
  if (given === null)
    return makesRequest
      ? [{ path: "signing", message: "is required when a step makes a request: secret and secretVersion, or oidc" }]
      : [];
  const hasSecret = scope.hidden[SIGNING_SECRET] !== undefined;
  if (given.oidc !== undefined) {
    if (hasSecret || given.secretVersion !== undefined) {
      return [{ path: "signing", message: "must be either secret and secretVersion or oidc" }];
    }
    return signsTokens ? [] : [{ path: "signing.oidc", message: "HOOK_SIGNING_KEY must be set to sign OIDC tokens" }];
  }
  if (given.secretVersion === undefined) return [{ path: "signing.secretVersion", message: "is required" }];
  const before = scope.previous?.fields.signing?.secretVersion;
  if (before !== given.secretVersion && !hasSecret) {
    return [{ path: "signing.secret", message: "is required on create and whenever secretVersion changes" }];
  }
  if (before === given.secretVersion && hasSecret) {
    return [{ path: "signing.secretVersion", message: "must change when a new secret is given" }];
  }
  return [];
}

function member(key: string): string {
  return plainName.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/**
 * Returns the errors in the inputs that steps pass to tools: unknown or missing inputs, and literals of the wrong type.
 * The service checks values of expressions when it makes the call.
 */
export function callErrors(
  { steps }: HookFields,
  { reading, workspaceId, teamKey }: Pick<WriteScope<HookFields>, "reading" | "workspaceId" | "teamKey">,
): FieldError[] {
  return steps.flatMap(({ call, with: given }, index) => {
    const declared = call === null ? undefined : findOfferedTool(reading, { workspaceId, teamKey }, call)?.tool.inputs;
    if (declared === undefined) return [];
    const inputs = given ?? {};
    const checked = checkInputs(declared, inputs, {});
    const errors = "errors" in checked ? checked.errors : [];
    const isKnown = ({ path }: FieldError): boolean => {
      const name = /^\w+/.exec(path)?.[0] ?? path;
      const input = Object.hasOwn(declared, name) ? declared[name] : undefined;
      if (input === undefined) return true;
      return Object.hasOwn(inputs, name) ? !holdsExpressions(inputs[name]) : input.default === undefined;
    };
    const at = ["steps", index, "with"];
    return errors
      .filter(isKnown)
      .map(({ path, message }) => ({ path: `${pathText(at)}${path.startsWith("[") ? "" : "."}${path}`, message }));
  });
}

function holdsExpressions(value: unknown): boolean {
  if (typeof value === "string") return isTemplate(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsExpressions);
}

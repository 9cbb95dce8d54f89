import { LRUCache } from "lru-cache";
import type { Reading } from "../../storage/store.js";
import { listExpressions } from "../expressions/positions.js";
import { readsName } from "../expressions/reads-name.js";
import { type AllowList, maySignInAt } from "../outbound/http/allow-list.js";
import { pathText } from "../refusal.js";
import type { Warning } from "../resources/kind.js";
import { findResource, findResourceAt, listAddresses, type ResourceRow } from "../resources/resource.table.js";
import { getTeamKey } from "../resources/resource-indexes.table.js";
import { unboundWarnings } from "../workspaces/secret-hosts.js";
import type { IntegrationFields } from "./definition.js";
import { expressionWarnings, integrationLanguage } from "./integration-expressions.js";
import { literalHost } from "./integration-rules.js";
import { listOpenedLines } from "./opened-lines.js";
import { POLL_FAILS_FROM, polls } from "./poll.table.js";
import { isDefaultUsable } from "./tool-inputs.js";
import { findHostFault } from "./unreachable-hosts.js";

/** Returns the warnings of an integration: about valid parts that do not work as intended, and about a failing poll. */
export function integrationWarnings(
  fields: IntegrationFields,
  allowList: AllowList,
  { reading, row }: { readonly reading: Reading; readonly row: ResourceRow<IntegrationFields> },
): readonly Warning[] {
  return [
    ...getWarnings(row),
    ...verifyWarnings(fields),
    ...pollWarnings(reading, row),
    ...scheduleWarnings(fields),
    ...captureWarnings(fields),
    ...defaultWarnings(fields),
    ...authorizeWarnings(fields, allowList),
    ...fields.hosts.flatMap((host, index) => {
      const reason = findHostFault(host, allowList);
      return reason === null ? [] : [warning(`hosts[${index}]`, `no request is sent there: ${reason}`)];
    }),
    ...secretWarnings(fields, reading, row.workspaceId),
    ...lineWarnings(fields, reading, row),
    ...markWarnings(reading, row),
  ];
}

/** Maximum number of integrations whose expression warnings are cached. */
const MAX_CACHED = 1_000;
const cachedWarnings = new LRUCache<string, { readonly version: number; readonly warnings: readonly Warning[] }>({
  max: MAX_CACHED,
});

/** Returns the warnings for invalid expressions. Computes these warnings once per version of the integration. */
function getWarnings({ id, version, fields }: ResourceRow<IntegrationFields>): readonly Warning[] {
  const known = cachedWarnings.get(id);
  if (known?.version === version) return known.warnings;
  const warnings = expressionWarnings(fields);
  cachedWarnings.set(id, { version, warnings });
  return warnings;
}

/** Warns about a webhook without `verify`, because the service rejects all deliveries to such a webhook. */
function verifyWarnings({ webhook }: IntegrationFields): Warning[] {
  if (webhook === null || webhook.verify !== null) return [];
  return [warning("webhook", "every delivery is rejected: set verify")];
}

/** Warns about a poll that fails repeatedly. The service retries such a poll without end. */
function pollWarnings(reading: Reading, { id, workspaceId, fields }: ResourceRow<IntegrationFields>): Warning[] {
  const poll = fields.poll === null ? undefined : polls.get(reading, workspaceId, id);
  if (poll === undefined || poll.failures < POLL_FAILS_FROM) return [];
  const next = poll.nextAt === null ? "is being retried" : `is retried at ${poll.nextAt}`;
  return [
    warning("poll", `failed ${poll.failures} times in a row, and ${next}: ${poll.problem?.reason ?? "it went wrong"}`),
  ];
}

/**
 * Warns about captures in a lookup's `request`, because events read only the captures in `lookup.capture`. Also warns
 * about the token in expressions that are evaluated after a response, because these expressions only see the masked
 * token.
 */
function captureWarnings({ webhook, poll, actions, tools, on }: IntegrationFields): Warning[] {
  const events = Object.entries({ webhook, poll }).flatMap(([source, block]) =>
    (block?.events ?? []).flatMap(({ lookup }, index) =>
      Object.keys(lookup?.request.capture ?? {}).map((name) =>
        warning(
          pathText([source, "events", index, "lookup", "request", "capture", name]),
          "has no effect: events read the captures of lookup.capture",
        ),
      ),
    ),
  );
  const read: readonly [path: (string | number)[], text: string | null][] = [
    ...Object.entries(actions).flatMap(([action, { request }]) => answerTexts(["actions", action, "request"], request)),
    ...(poll === null ? [] : answerTexts(["poll", "request"], poll.request)),
    ...Object.entries(tools).map(([tool, { output }]): [string[], string | null] => [
      ["tools", tool, "output"],
      output,
    ]),
    ...on.flatMap(({ mark }, index) =>
      Object.entries(mark).map(([kind, { value }]): [(string | number)[], string] => [
        ["on", index, "mark", kind, "value"],
        value,
      ]),
    ),
  ];
  const masked = read.flatMap(([path, text]) =>
    text !== null && readsName(text, "connection")
      ? [warning(pathText(path), "connection is masked as *** here: only the fields of a request can read the token")]
      : [],
  );
  return [...events, ...masked];
}

/** Lists the expressions that read a request's response. */
function answerTexts(
  path: readonly string[],
  { capture, expect }: Pick<IntegrationFields["actions"][string]["request"], "capture" | "expect">,
): [(string | number)[], string | null][] {
  return [
    [[...path, "expect", "success"], expect?.success ?? null],
    ...Object.entries(capture).map(([name, text]): [string[], string] => [[...path, "capture", name], text]),
  ];
}

/**
 * Warns about an authorization page that is neither https nor allowed by the deployment. The service does not redirect
 * users to such a page.
 */
function authorizeWarnings({ connection }: IntegrationFields, allowList: AllowList): Warning[] {
  const url = connection?.oauth2?.authorizeUrl ?? null;
  if (url === null || maySignInAt(url, allowList)) return [];
  return [warning("connection.oauth2.authorizeUrl", "must be https: accounts cannot be linked")];
}

/** Warns about secrets that are not bound to the hosts of the requests that carry them. */
function secretWarnings({ hosts, connection }: IntegrationFields, reading: Reading, workspaceId: string): Warning[] {
  const sent = [];
  if (connection?.token) sent.push({ path: "connection.token.secret", secret: connection.token.secret, hosts });
  const { oauth2 } = connection ?? { oauth2: null };
  if (oauth2 !== null && oauth2.clientSecret !== null) {
    const host = literalHost(oauth2.tokenUrl ?? oauth2.issuer ?? "");
    const secret = oauth2.clientSecret;
    sent.push({ path: "connection.oauth2.clientSecret", secret, hosts: host === null ? [] : [host] });
  }
  return sent.flatMap((each) => unboundWarnings(reading, workspaceId, each));
}

/**
 * The fields of a line that this file reads. The module of lines imports integrations, so this file cannot import it.
 */
interface OpenedLineFields {
  readonly stations: readonly { readonly key: string }[];
}

/**
 * Warns about lines and stations that do not exist. An integration names lines by key instead of by reference, because
 * lines already refer to integrations. With references in both directions, neither could be created first.
 */
function lineWarnings(fields: IntegrationFields, reading: Reading, row: ResourceRow): Warning[] {
  const teamKey = getTeamKey(reading, row.workspaceId, row.teamId);
  return listOpenedLines(fields).flatMap(({ path, line, station }) => {
    const found = findResourceAt<OpenedLineFields>(reading, row.workspaceId, "line", `${teamKey}/${line}`);
    if (found === undefined) return [warning(path, `opens nothing: there is no line ${line}`)];
    const isThere = station === null || found.fields.stations.some(({ key }) => key === station);
    const at = path.replace(/line$/, "station");
    return isThere ? [] : [warning(at, `opens nothing: the line ${line} has no station ${station}`)];
  });
}

/** Warns about defaults that do not have the type of their input. Tools ignore such defaults. */
function defaultWarnings({ tools }: IntegrationFields): Warning[] {
  return Object.entries(tools).flatMap(([tool, { inputs }]) =>
    Object.entries(inputs).flatMap(([name, input]) =>
      isDefaultUsable(input)
        ? []
        : [
            warning(
              pathText(["tools", tool, "inputs", name, "default"]),
              `is never used: the input is of type ${input.type}`,
            ),
          ],
    ),
  );
}

function warning(path: string, message: string): Warning {
  return { path, message, severity: "warning" };
}

/** Maximum number of the team's integrations to compare with: the first integrations by key. */
const MAX_COMPARED = 50;

/**
 * Warns about mark kinds that another integration of the team also sets. A task has one mark per kind, and events find
 * tasks by their marks. So an event of one integration could reach a task of the other integration, and a binding could
 * send a request to the wrong place.
 */
export function markWarnings(reading: Reading, { address, workspaceId, teamId, fields }: Integration): Warning[] {
  const own = listMarkKinds(fields);
  if (own.size === 0) return [];
  const shared = new Map<string, string>();
  const under = getTeamKey(reading, workspaceId, teamId);
  for (const other of listAddresses(reading, workspaceId, "integration", { under, limit: MAX_COMPARED })) {
    const found = other.address === address ? undefined : findIntegration(reading, workspaceId, other.id);
    for (const kind of found === undefined ? [] : listMarkKinds(found.fields).keys()) {
      if (own.has(kind) && !shared.has(kind)) shared.set(kind, found?.fields.integration ?? "");
    }
  }
  return [...shared].map(([kind, other]) => ({
    path: own.get(kind) ?? "",
    message: `the integration ${other} of the team also sets marks of this kind: each integration finds tasks by the other's values`,
    severity: "warning",
  }));
}

type Integration = ResourceRow<IntegrationFields>;

function findIntegration(reading: Reading, workspaceId: string, id: string): Integration | undefined {
  return findResource<IntegrationFields>(reading, workspaceId, "integration", id);
}

/** Returns the mark kinds that the definition sets, each with the path of its first use. */
function listMarkKinds({ webhook, poll, on }: IntegrationFields): ReadonlyMap<string, string> {
  const kinds = new Map<string, string>();
  const add = (path: readonly (string | number)[], marks: Readonly<Record<string, unknown>>) => {
    for (const kind of Object.keys(marks)) if (!kinds.has(kind)) kinds.set(kind, pathText([...path, kind]));
  };
  for (const [source, block] of Object.entries({ webhook, poll })) {
    for (const [index, { raise }] of (block?.events ?? []).entries())
      add([source, "events", index, "raise", "marks"], raise.marks);
  }
  for (const [index, { mark }] of on.entries()) add(["on", index, "mark"], mark);
  return kinds;
}

/**
 * The names that an action sees only if a tool or a binding runs it. An action that a schedule runs does not see them.
 */
const UNSEEN = ["task", "ask", "target", "inputs"];

/** Warns about schedules that cannot send the request of their action. */
function scheduleWarnings(fields: IntegrationFields): readonly Warning[] {
  const scheduled = Object.keys(fields.actions).filter((name) => fields.actions[name]?.schedule !== null);
  if (scheduled.length === 0) return [];
  return [...actingWarnings(fields, scheduled), ...unseenWarnings(fields, scheduled)];
}

/**
 * Warns about schedules of an integration that acts as its users: a schedule acts as no user, so it cannot use a user's
 * connection.
 */
function actingWarnings({ connection }: IntegrationFields, scheduled: readonly string[]): readonly Warning[] {
  if (connection?.holder !== "requester") return [];
  const message = "has no account: the integration acts as people, and a schedule acts as no person";
  return scheduled.map((name) => warning(pathText(["actions", name, "schedule"]), message));
}

function unseenWarnings(fields: IntegrationFields, scheduled: readonly string[]): readonly Warning[] {
  return listExpressions(integrationLanguage, { ...fields }).flatMap(({ path, text }) => {
    const [block, action, part] = path;
    if (block !== "actions" || part !== "request" || !scheduled.includes(String(action))) return [];
    return UNSEEN.filter((name) => readsName(text, name)).map((name) =>
      warning(
        pathText(path),
        `has no value when the action's schedule sends the request: ${name} is not available there`,
      ),
    );
  });
}

import { type FieldError, pathText } from "../refusal.js";
import { coversHost } from "../resources/fields.js";
import type { Reference } from "../resources/kind.js";
import type { IntegrationFields } from "./definition.js";
import type { IntegrationEvent } from "./events.js";
import { checkOAuth2, type OAuth2 } from "./oauth2.js";

/** Lists the secrets that an integration names. */
export function secretReferences({ webhook, connection }: IntegrationFields): readonly Reference[] {
  const named: readonly [path: string, secret: string | null | undefined][] = [
    ["webhook.verify.hmac.secret", webhook?.verify?.hmac?.secret],
    ["webhook.verify.token.secret", webhook?.verify?.token?.secret],
    ["webhook.verify.basic.secret", webhook?.verify?.basic?.secret],
    ["connection.oauth2.clientSecret", connection?.oauth2?.clientSecret],
    ["connection.token.secret", connection?.token?.secret],
  ];
  return named.flatMap(([path, address]) =>
    address === undefined || address === null ? [] : [{ path, kind: "secret", address }],
  );
}

/** Returns an error for each contradiction in the definition. */
export function checkIntegration(fields: IntegrationFields): readonly FieldError[] {
  return [
    ...checkVerify(fields),
    ...checkConnection(fields),
    ...checkEvents(fields),
    ...checkActions(fields),
    ...checkToolNames(fields),
    ...checkHosts(fields),
  ];
}

/** The address of a request, and its path in the definition. */
interface RequestAddress {
  readonly path: string;
  readonly url: string;
}

/** Lists the addresses of the integration's requests, before expressions are evaluated. */
export function listRequestAddresses({
  webhook,
  poll,
  actions,
  connection,
}: IntegrationFields): readonly RequestAddress[] {
  const events = [...eventAddresses(webhook?.events ?? [], "webhook"), ...eventAddresses(poll?.events ?? [], "poll")];
  const polled = poll === null ? [] : [{ path: "poll.request.url", url: poll.request.url }];
  const acted = Object.entries(actions).map(([name, { request }]) => ({
    path: pathText(["actions", name, "request", "url"]),
    url: request.url,
  }));
  return [...events, ...polled, ...acted, ...linkAddresses(connection?.oauth2 ?? null)];
}

/** Lists the addresses to which account linking sends requests. The page that the user visits is not included. */
function linkAddresses(oauth2: OAuth2 | null): RequestAddress[] {
  if (oauth2 === null) return [];
  return (["issuer", "tokenUrl", "revokeUrl", "identityUrl"] as const).flatMap((name) => {
    const url = oauth2[name];
    return url === null ? [] : [{ path: `connection.oauth2.${name}`, url }];
  });
}

function eventAddresses(events: readonly IntegrationEvent[], block: string): RequestAddress[] {
  return events.flatMap(({ lookup, raise }, index) => [
    ...(lookup === null ? [] : [{ path: `${block}.events[${index}].lookup.request.url`, url: lookup.request.url }]),
    ...(raise.attaches === null
      ? []
      : [{ path: `${block}.events[${index}].raise.attaches.fetch.url`, url: raise.attaches.fetch.url }]),
  ]);
}

function checkVerify({ webhook }: IntegrationFields): FieldError[] {
  const verify = webhook?.verify ?? null;
  if (verify === null || Object.values(verify).filter((way) => way !== null).length === 1) return [];
  return [{ path: "webhook.verify", message: "must be one of hmac, asymmetric, token or basic" }];
}

function checkConnection({ connection }: IntegrationFields): FieldError[] {
  if (connection === null) return [];
  const errors: FieldError[] = [];
  if ((connection.oauth2 === null) === (connection.token === null)) {
    errors.push({ path: "connection", message: "must be either oauth2 or token" });
  }
  if (connection.holder === "requester" && connection.oauth2 === null) {
    errors.push({ path: "connection.holder", message: "can only be requester with oauth2" });
  }
  if (connection.oauth2 !== null) errors.push(...checkOAuth2(connection.oauth2));
  return errors;
}

function checkEvents({ webhook, poll }: IntegrationFields): FieldError[] {
  const isRouted = webhook !== null && webhook.route !== null;
  return [
    ...(isRouted ? [] : unplaced(webhook?.events ?? [], "webhook", "is required without a route")),
    ...unplaced(poll?.events ?? [], "poll", "is required"),
  ];
}

function unplaced(events: readonly IntegrationEvent[], block: string, message: string): FieldError[] {
  return events.flatMap(({ raise: { opens } }, index) =>
    opens !== null && opens.line === null ? [{ path: `${block}.events[${index}].raise.opens.line`, message }] : [],
  );
}

/** Reports each field that names a missing action. */
function checkActions({ actions, tools, on }: IntegrationFields): FieldError[] {
  const runs = [
    ...Object.entries(tools).map(([name, { action }]) => ({ path: pathText(["tools", name, "action"]), action })),
    ...on.map(({ action }, index) => ({ path: `on[${index}].action`, action })),
  ];
  return runs.flatMap(({ path, action }) =>
    Object.hasOwn(actions, action) ? [] : [{ path, message: `there is no action ${action}` }],
  );
}

/**
 * The service's own MCP server has this name. An integration's key is the name of the integration's MCP server. With
 * this key, agents would see both servers as one.
 */
const OWN_SERVER = "signalbox";
const OWN_TOOLS = ["open_pull_request"];

function checkToolNames({ integration, tools }: IntegrationFields): FieldError[] {
  if (integration !== OWN_SERVER) return [];
  return OWN_TOOLS.filter((name) => Object.hasOwn(tools, name)).map((name) => ({
    path: pathText(["tools", name]),
    message: "is reserved for the service's own tool",
  }));
}

function checkHosts(fields: IntegrationFields): FieldError[] {
  return listRequestAddresses(fields).flatMap(({ path, url }): FieldError[] => {
    const host = literalHost(url);
    if (host === null) return [];
    if (host === "") return [{ path, message: "must be an address such as https://api.example.com/items" }];
    return coversHost(fields.hosts, host) ? [] : [{ path, message: `the host ${host} is not among hosts` }];
  });
}

/** Returns the host in an address; null if an expression sets part of the host, "" if the text is not an address. */
export function literalHost(url: string): string | null {
  const expressionAt = url.indexOf("${{");
  const found = /^https?:\/\/([^/?#\s]+)([/?#]|$)/.exec(expressionAt === -1 ? url : url.slice(0, expressionAt));
  if (expressionAt === -1) return found?.[1]?.toLowerCase() ?? "";
  return found?.[1] !== undefined && found[2] !== "" ? found[1].toLowerCase() : null;
}

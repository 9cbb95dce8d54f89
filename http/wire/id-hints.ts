import type { Kind } from "../../actors/resources/kind.js";
import type { Found, Router } from "./router.js";

/**
 * Returns a hint for a path with the wrong kind of name: a key, an address or another resource's id in place of an id,
 * or an id in place of a key. Returns null if the path has the right form.
 */
export type HintOf = (method: string, path: string, find: Router) => string | null;

/** What a path parameter identifies. */
interface Named {
  /** The id prefix. */
  readonly prefix: string;
  /** The name that people use in place of the id; null if there is only an id. */
  readonly word: "key" | "slug" | "name" | null;
  /** The number of segments of the resource address; 1 if there is no address. */
  readonly segments: number;
  /**
   * Returns the end of a hint, which says how to look up the id. `value` is the text that the client sent in place of
   * the id.
   */
  readonly lookup: (value: string, params: Found["params"]) => string;
}

const ID = /^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$/;
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/** Text that a hint may repeat: one line that cannot close the hint's backticks. */
const REPEATABLE = /^[^\p{C}`]{1,200}$/u;
/** Maximum number of segments of a path in which to look for an address. */
const MAX_SEGMENTS = 12;

/** Parameters that hold a resource id, in paths that do not start with the resource's collection. */
const kindsByParameter: Readonly<Record<string, string>> = {
  workspaceId: "workspace",
  teamId: "team",
  lineId: "line",
  hookId: "hook",
  integrationId: "integration",
};

/** Parameters that hold the id of something other than a resource. */
const others: Readonly<Record<string, Named>> = {
  taskId: listed("task", "/api/teams/{teamId}/tasks"),
  runId: listed("run", "/api/tasks/{taskId}/runs"),
  stationId: listed("sta", "/api/resources/lines/{lineId}", "key"),
  setId: listed("rset", "/api/teams/{teamId}/replay-sets", "name"),
  replayId: listed("rep", "/api/teams/{teamId}/replay-sets/{setId}/replays"),
  checkId: listed("check", "/api/teams/{teamId}/replay-sets/{setId}/replay-checks"),
  searchId: listed("srch", "/api/teams/{teamId}/searches"),
  candidateId: listed("cand", "/api/teams/{teamId}/searches/{searchId}", "name"),
  deliveryId: listed("dlv", "/api/integrations/{integrationId}/deliveries"),
  actionRunId: listed("act", "/api/integrations/{integrationId}/action-runs"),
  approvalId: listed("apr", "/api/runs/{runId}/approvals"),
  userId: listed("usr", "/api/workspaces/{slug}/members", "name"),
  inviteId: listed("inv", "/api/workspaces/{slug}/invites", "name"),
  occurrence: listed("occ", "/api/teams/{teamId}/events"),
  attachmentId: listed("att", "/api/tasks/{taskId}"),
  pullRequestId: listed("cpr", "/api/teams/{teamId}/searches/{searchId}"),
};

/**
 * For paths of objects that are no resources: the start of the path, and the object that the `{id}` after it
 * identifies.
 */
const byCollection: Readonly<Record<string, Named>> = {
  "/api/pull-requests/": listed("pr", "/api/teams/{teamId}/pull-requests"),
  "/api/teams/{teamId}/hook-occurrences/": listed("occ", "/api/teams/{teamId}/hook-occurrences"),
  "/api/workspaces/{slug}/dead-letters/": listed("dead", "/api/workspaces/{slug}/dead-letters"),
};

/** Parameters that take a key or slug, for which clients sometimes send an id. `at` is a path that shows both. */
const keyParameters: Readonly<Record<string, { readonly word: string; readonly prefix: string; readonly at: string }>> =
  {
    stationKey: { word: "station's key", prefix: "sta", at: "/api/resources/lines/{lineId}" },
    slug: { word: "workspace's slug", prefix: "ws", at: "/api/resources/workspaces" },
  };

function listed(prefix: string, path: string, word: Named["word"] = null): Named {
  return { prefix, word, segments: 1, lookup: (_value, params) => `GET ${filled(path, params)} lists the ids` };
}

/**
 * Creates hints for the paths of resource kinds and for other paths with ids. A hint depends only on the form of a
 * path, so it does not reveal what exists.
 */
export function createHints(kinds: readonly Kind[]): HintOf {
  const byKind = new Map(kinds.map((kind) => [kind.name, namedByKind(kind)]));
  const byPlural = new Map(kinds.map((kind) => [kind.plural, byKind.get(kind.name)]));
  const namedBy = (pattern: string, parameter: string): Named | undefined => {
    const plural = /^\/api\/resources\/([a-z-]+)\/\{id\}/.exec(pattern)?.[1];
    if (parameter === "id")
      return plural === undefined ? byCollection[pattern.split("{id}")[0] ?? ""] : byPlural.get(plural);
    const kind = kindsByParameter[parameter];
    return kind === undefined ? others[parameter] : byKind.get(kind);
  };
  const hintAt = ({ route, params }: Found): string | null => {
    for (const [parameter, value] of Object.entries(params)) {
      const hint = keyHint(parameter, value, params) ?? idHint(namedBy(route.path, parameter), value, params);
      if (hint !== null) return hint;
    }
    return null;
  };
  return (method, path, find) => {
    const found = find(method, path);
    if ("route" in found) return hintAt(found);
    for (const asOne of joinedPaths(path)) {
      const joined = find(method, asOne);
      if ("route" in joined && isAddressed(joined, namedBy)) return hintAt(joined);
    }
    return null;
  };
}

/**
 * Whether each value that contains slashes has the same number of segments as an address of its parameter's resource.
 */
function isAddressed({ route, params }: Found, namedBy: (pattern: string, parameter: string) => Named | undefined) {
  return Object.entries(params).every(([parameter, value]) => {
    const parts = value.split("/").length;
    return parts === 1 || namedBy(route.path, parameter)?.segments === parts;
  });
}

/**
 * Yields variants of the path, each with some neighboring segments joined into one. One variant is the intended path if
 * the client did not encode the slashes of an address.
 */
function* joinedPaths(path: string): Generator<string> {
  const segments = path.slice(1).split("/");
  if (segments.length > MAX_SEGMENTS) return;
  for (const count of [2, 4]) {
    for (let from = 0; from + count <= segments.length; from += 1) {
      const address = segments.slice(from, from + count).join("%2F");
      yield `/${[...segments.slice(0, from), address, ...segments.slice(from + count)].join("/")}`;
    }
  }
}

function idHint(named: Named | undefined, value: string, params: Found["params"]): string | null {
  if (named === undefined || value.startsWith(`${named.prefix}_`) || !REPEATABLE.test(value)) return null;
  const form = findForm(value, named);
  if (form === null) return null;
  const lookup = named.lookup(ID.test(value) ? "" : value, params);
  return `ids look like ${named.prefix}_…; \`${value}\` is ${form}: ${lookup}`;
}

/** Says what the value looks like, for a hint. Returns null if it looks like a mistyped id. */
function findForm(value: string, { word }: Named): string | null {
  if (ID.test(value)) return "the id of another kind";
  if (/^[a-z]+_[0-9A-Z]*$/.test(value)) return null;
  if (value.includes("/")) return "an address";
  if (word === "name") return "a name";
  return word === null || !SLUG.test(value) ? "not one" : `a ${word}`;
}

function keyHint(parameter: string, value: string, params: Found["params"]): string | null {
  const key = keyParameters[parameter];
  if (key === undefined || !ID.test(value) || !value.startsWith(`${key.prefix}_`)) return null;
  return `\`${value}\` is an id, and this path takes the ${key.word}: GET ${filled(key.at, params)} shows it`;
}

function namedByKind({ heldBy, plural, idPrefix, fixed }: Kind): Named {
  const [first = "name"] = fixed;
  const within = heldBy === "none" ? "" : "/workspaces/<workspace id>";
  const segments = { none: 1, workspace: 1, team: 2, station: 4 }[heldBy];
  const holders = ["<team key>", "<line key>", "<station key>"].slice(0, segments - 1);
  return {
    prefix: idPrefix,
    word: first === "slug" || first === "name" ? first : "key",
    segments,
    lookup: (value) => {
      const named = value === "" ? `<${first}>` : encodeURIComponent(value).replaceAll("%2F", "/");
      const address = value.includes("/") ? named : [...holders, named].join("/");
      return `GET /api/resources${within}/${plural}/import?address=${address}`;
    },
  };
}

/** Fills the path template with the ids from the request's path. Other parameters become names in angle brackets. */
function filled(path: string, params: Found["params"]): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? "";
    return ID.test(value) ? value : `<${name.replace(/Id$/, " id")}>`;
  });
}

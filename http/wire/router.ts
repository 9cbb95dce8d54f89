import type { Refusal } from "../../actors/refusal.js";
import type { EdgeRefusal } from "./problem.js";
import type { Route } from "./route.js";

/** A matching route with its decoded path parameters. */
export interface Found {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

interface Node {
  readonly fixed: Map<string, Node>;
  parameter: { readonly name: string; readonly node: Node } | null;
  readonly methods: Map<string, { readonly route: Route; readonly names: readonly string[] }>;
}

const emptyNode = (): Node => ({ fixed: new Map(), parameter: null, methods: new Map() });

/** Finds the route for a method and a path. */
export type Router = (method: string, path: string) => Found | Refusal | EdgeRefusal;

/**
 * Creates a router for a table of routes. The router is a tree of path segments, and tries fixed segments before
 * parameters.
 *
 * - A HEAD request finds the GET route.
 * - An unknown path is `not-found`.
 * - A known path with another method is `method-not-allowed`.
 * - A badly encoded path is `bad-request`.
 *
 * Throws if two routes have the same method and path.
 */
export function createRouter(routes: readonly Route[]): Router {
  const root = emptyNode();
  for (const route of routes) addRoute(root, route);
  return (method, path) => {
    if (!path.startsWith("/")) return { refused: "bad-request", detail: "the path must begin with /" };
    const values: string[] = [];
    const node = findNode(root, path, 1, values);
    if (node === undefined) return { refused: "not-found", detail: "No route has this path. /docs lists all routes." };
    const found = node.methods.get(method === "HEAD" ? "GET" : method);
    if (found === undefined) {
      const methods = [...node.methods.keys()];
      const allow = (methods.includes("GET") ? [...methods, "HEAD"] : methods).sort().join(", ");
      const listedAt = methods.includes("GET") ? undefined : node.methods.get("POST")?.route.listedAt;
      const lists = listedAt === undefined ? "" : `; created items are listed at ${listedAt}`;
      return { refused: "method-not-allowed", detail: `this path supports ${allow}${lists}`, allow };
    }
    const params: Record<string, string> = {};
    for (let index = 0; index < found.names.length; index++) {
      const decoded = decode(values[index] ?? "");
      if (decoded === undefined) return { refused: "bad-request", detail: "the path has an invalid encoding" };
      params[found.names[index] ?? ""] = decoded;
    }
    return { route: found.route, params };
  };
}

function addRoute(root: Node, route: Route): void {
  let node = root;
  const names: string[] = [];
  for (const segment of route.path.slice(1).split("/")) {
    const name = /^\{(.+)\}$/.exec(segment)?.[1];
    if (name === undefined) {
      const next = node.fixed.get(segment) ?? emptyNode();
      node.fixed.set(segment, next);
      node = next;
    } else {
      names.push(name);
      node.parameter = node.parameter ?? { name, node: emptyNode() };
      node = node.parameter.node;
    }
  }
  if (node.methods.has(route.method)) throw new Error(`two routes are ${route.method} ${route.path}`);
  node.methods.set(route.method, { route, names });
}

/**
 * Finds the node for the path segments that start at `from`; undefined if there is none. Appends the parameter values
 * to `values`.
 */
function findNode(node: Node, path: string, from: number, values: string[]): Node | undefined {
  if (from > path.length) return node.methods.size > 0 ? node : undefined;
  const slash = path.indexOf("/", from);
  const end = slash < 0 ? path.length : slash;
  const segment = path.slice(from, end);
  const fixed = node.fixed.get(segment);
  if (fixed !== undefined) {
    const found = findNode(fixed, path, end + 1, values);
    if (found !== undefined) return found;
  }
  if (node.parameter === null || segment === "") return undefined;
  const depth = values.length;
  values.push(segment);
  const found = findNode(node.parameter.node, path, end + 1, values);
  if (found === undefined) values.length = depth;
  return found;
}

function decode(text: string): string | undefined {
  if (!text.includes("%")) return text.includes("\0") ? undefined : text;
  try {
    const decoded = decodeURIComponent(text);
    return decoded.includes("\0") ? undefined : decoded;
  } catch {
    return undefined;
  }
}

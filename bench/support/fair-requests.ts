import type { BenchService } from "./bench-service.js";
import type { Load } from "./load.js";

/** A client's requests, and its number of connections. */
export type Asked = Pick<Load, "port" | "connections" | "request">;

/** Creates a workspace; returns how to read it over one connection. */
export async function quietReader(service: BenchService): Promise<Asked> {
  const quiet = await service.create("/api/resources/workspaces", { slug: "quiet", name: "Quiet" }, "quiet");
  const [reader = ""] = await listTokens(service, quiet.id, 1);
  const request = bytes(reader, [`GET /api/resources/workspaces/${quiet.id} HTTP/1.1`]);
  return { port: service.port, connections: 1, request };
}

/** Creates this many tokens of a workspace. */
export async function listTokens(service: BenchService, workspaceId: string, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let n = 0; n < count; n++) {
    const body = { name: `fair-${n}`, scopes: ["configure", "secrets"] };
    const made = await service.create(`/api/resources/workspaces/${workspaceId}/tokens`, body, `${workspaceId}-${n}`);
    tokens.push(made.headers.get("service-workspace-token") ?? "");
  }
  return tokens;
}

/** Returns a request head as bytes: the lines, and a token. */
export function bytes(token: string, lines: readonly string[]): string {
  return `${[...lines, "Host: 127.0.0.1", `Authorization: Bearer ${token}`].join("\r\n")}\r\n\r\n`;
}

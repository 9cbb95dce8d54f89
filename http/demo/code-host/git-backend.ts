import { spawn } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";

/** How to serve a repository's folder. */
export interface GitBackend {
  /** The folder that contains the request's path. */
  readonly folder: string;
  /** The authenticated user; everyone except "" may push. */
  readonly user: string;
  /** Additional environment variables, for example for hooks. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether to drop the connection instead of answering, after performing the request. */
  readonly isLost?: boolean;
}

/** Answers one request with `git http-backend`, a CGI program. */
export async function serveGit(
  { folder, user, env = {}, isLost = false }: GitBackend,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, search } = new URL(request.url ?? "", "http://localhost");
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: user,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"],
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      ...env,
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  backend.stdin.on("error", () => undefined);
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(backend, "close");
  if (isLost) return void request.socket.destroy();
  const answer = Buffer.concat(chunks);
  const end = answer.indexOf("\r\n\r\n");
  for (const header of answer.subarray(0, end).toString().split("\r\n")) {
    const [name = "", value = ""] = header.split(": ");
    if (name === "Status") response.statusCode = Number.parseInt(value, 10);
    else if (name !== "") response.setHeader(name, value);
  }
  response.end(answer.subarray(end + 4));
}

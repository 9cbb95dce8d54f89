import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";

/** Who may fetch and push, with the password for it. */
const USER = "robot";
export const PASSWORD = "pass-of-the-robot";

/** A code host on the loopback interface: git over http for the one user who has the password. */
export interface GitHost {
  /** Without credentials. */
  readonly url: string;
  /** With them. */
  readonly urlWithPassword: string;
  /** The requests, as `401 GET /acme/app/info/refs?service=git-upload-pack`. */
  readonly requests: readonly string[];
}

/** Serves the repositories in a folder until the end of the test. */
export async function startGitHost(t: Test, folder: string): Promise<GitHost> {
  const requests: string[] = [];
  const expected = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}`;
  const server = createServer((request, response) => {
    const isKnown = request.headers.authorization === expected;
    requests.push(`${isKnown ? 200 : 401} ${request.method} ${request.url}`);
    if (isKnown) return void serve(folder, request, response);
    return void response.writeHead(401, { "www-authenticate": 'Basic realm="code"' }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const at = `127.0.0.1:${port}`;
  return { url: `http://${at}`, urlWithPassword: `http://${USER}:${PASSWORD}@${at}`, requests };
}

/** One request by `git http-backend`, which speaks CGI. */
async function serve(folder: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, search } = new URL(request.url ?? "", "http://localhost");
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      ...{ GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: "1", REMOTE_USER: USER },
      ...{ PATH_INFO: pathname, QUERY_STRING: search.slice(1), REQUEST_METHOD: request.method },
      ...{ CONTENT_TYPE: request.headers["content-type"], HTTP_CONTENT_ENCODING: request.headers["content-encoding"] },
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  backend.stdin.on("error", () => undefined);
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(backend, "close");
  const answer = Buffer.concat(chunks);
  const end = answer.indexOf("\r\n\r\n");
  for (const header of answer.subarray(0, end).toString().split("\r\n")) {
    const [name = "", value = ""] = header.split(": ");
    if (name === "Status") response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.end(answer.subarray(end + 4));
}

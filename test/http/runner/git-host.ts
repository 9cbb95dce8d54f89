import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import { serveGit } from "../../../http/demo/code-host/code-host.js";

/** The credentials of the only user who may fetch and push. */
const USER = "robot";
export const PASSWORD = "pass-of-the-robot";

/** A code host on the loopback interface: git over HTTP for the user with the password. */
export interface GitHost {
  /** The address without credentials. */
  readonly url: string;
  /** The address with credentials. */
  readonly urlWithPassword: string;
  /** The requests, in the form `401 GET /acme/app/info/refs?service=git-upload-pack`. */
  readonly requests: readonly string[];
}

/** Serves the repositories in a folder until the end of the test. */
export async function startGitHost(t: Test, folder: string): Promise<GitHost> {
  const requests: string[] = [];
  const expected = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}`;
  const server = createServer((request, response) => {
    const isKnown = request.headers.authorization === expected;
    requests.push(`${isKnown ? 200 : 401} ${request.method} ${request.url}`);
    if (isKnown) return void serveGit({ folder, user: USER }, request, response);
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

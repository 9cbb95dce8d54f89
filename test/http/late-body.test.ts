import t from "tap";
import { RawConnection } from "../support/raw-connection.js";
import { bearer, remove, workspaceWithTeam } from "../support/resources.js";
import { type Client, startTestService, type TestService } from "../support/service.js";

/**
 * Tests that a caller must be authorized twice: when the first byte of a request arrives, and when the last byte
 * arrives. The body can take a long time to arrive.
 */

const base = "/api/resources";
const body = JSON.stringify({ key: "late", name: "Late" });

/**
 * Starts a create: sends the head of the request and the first 10 bytes of the body. Returns a function that sends the
 * rest and reads the answer.
 */
async function begun(service: TestService, client: Client, path: string) {
  const connection = await RawConnection.open(service.port);
  const credentials = Object.entries(client.credentials).map(([name, value]) => `${name}: ${value}`);
  const head = [`POST ${path} HTTP/1.1`, "Host: service", "Content-Type: application/json", "Idempotency-Key: late"];
  connection.send([...head, ...credentials, `Content-Length: ${body.length}`], body.slice(0, 10));
  await service.anonymous.request("GET", "/healthz");
  return async () => {
    connection.write(body.slice(10));
    const { status } = await connection.answer();
    connection.destroy();
    return status;
  };
}

for (const TRANSPORT of ["uws", "node"]) {
  t.test(`over ${TRANSPORT}, a credential that ends while the body comes admits nobody`, async (t) => {
    const service = await startTestService(t, { settings: { TRANSPORT } });
    const ada = await service.signIn("ada@example.com");
    const { workspaceId } = await workspaceWithTeam(ada);
    const teams = `${base}/workspaces/${workspaceId}/teams`;
    const robot = await bearer(service, ada, { workspaceId, name: "robot", scopes: ["configure"] });
    const again = await service.signIn("ada@example.com");

    const byToken = await begun(service, robot, teams);
    t.equal((await remove(ada, `${base}/tokens/${robot.tokenId}`, 1)).status, 204);
    t.equal(await byToken(), 401, "a revoked token");

    const bySession = await begun(service, again, teams);
    t.equal((await again.request("DELETE", "/api/sessions")).status, 204);
    t.equal(await bySession(), 401, "a session that was signed out");

    const inTime = await begun(service, ada, teams);
    t.equal(await inTime(), 201, "one that goes on is good for a body in pieces");
  });
}

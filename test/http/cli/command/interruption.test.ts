import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import t from "tap";
import { signalbox } from "../../../support/signalbox-command.js";

t.test("Ctrl+C ends a command that waits for the service, and npm's repeated signal does not kill it", async (t) => {
  const server = createServer(() => undefined).listen(0, "127.0.0.1");
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const command = spawn(process.execPath, [signalbox, "whoami", "--url", url, "--token", "t"], {
    env: { PATH: process.env.PATH, HOME: tmpdir() },
    stdio: ["ignore", "ignore", "pipe"],
  });
  t.teardown(() => command.kill("SIGKILL"));
  const err = text(command.stderr);
  const ended = once(command, "close");
  await once(server, "request");
  command.kill("SIGINT");
  command.kill("SIGINT");
  t.same(await ended, [130, null]);
  t.match(await err, /^interrupted\n$/);
});

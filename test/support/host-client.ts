import type { Test } from "tap";
import { type CodeHost, createCodeHost } from "../../actors/outbound/code-host/code-host.js";
import { codeHostAddresses } from "../../actors/outbound/code-host/code-host-settings.js";
import { createOutbound } from "../../actors/outbound/http/request.js";
import type { CodeHost as HostedPeer } from "../../http/demo/code-host/code-host.js";

/**
 * Returns the settings and sockets with which the service reaches a test's code host. The sockets close with the test.
 */
export function reachHost(t: Test, peer: HostedPeer) {
  const read = (name: string) => peer.settings[`CODE_HOST_${name}`] ?? "";
  const settings = {
    apiUrl: read("URL"),
    webUrl: peer.origin,
    appId: read("APP_ID"),
    appKey: read("APP_KEY"),
    clientId: read("CLIENT_ID"),
    clientSecret: read("CLIENT_SECRET"),
  };
  const outbound = createOutbound({ allowList: codeHostAddresses(settings), maxBodyBytes: 2 * 1024 * 1024 });
  t.teardown(() => outbound.close());
  return { settings, outbound };
}

/**
 * Returns the service's client of a test's code host. The client does not pause between writes. Instead it adds the
 * length of each pause to `pauses`, in milliseconds.
 */
export function toClient(t: Test, peer: HostedPeer): { readonly codeHost: CodeHost; readonly pauses: number[] } {
  const { settings, outbound } = reachHost(t, peer);
  const pauses: number[] = [];
  const codeHost = createCodeHost({
    settings,
    outbound,
    now: Date.now,
    log: { warn: () => undefined },
    pause: async (ms) => void pauses.push(ms),
  });
  return { codeHost, pauses };
}

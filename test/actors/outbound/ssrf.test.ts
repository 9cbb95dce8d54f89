import { createServer, type Socket } from "node:net";
import t, { type Test } from "tap";
import {
  AddressRefused,
  guardedAddress,
  isPublicAddress,
  type Resolve,
} from "../../../actors/outbound/http/address-guard.js";
import { findRefusalReason, parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { createOutbound, type Outbound, RequestRefused } from "../../../actors/outbound/http/request.js";
import { hookReceiver } from "../../support/hook-receiver.js";

/**
 * Targets of server-side request forgery. The service must connect to none of them. The allow-list contains the
 * target's host without a protocol, which does not permit private addresses. `{port}` is the port of a loopback server
 * that counts its connections.
 */
const literals: Readonly<Record<string, string>> = {
  "a literal loopback address": "https://127.0.0.1:{port}/",
  "another address of the loopback network": "https://127.9.9.9:{port}/",
  "loopback with a dot at its end": "https://127.0.0.1.:{port}/",
  "loopback as one decimal number": "https://2130706433:{port}/",
  "loopback as one hexadecimal number": "https://0x7f000001:{port}/",
  "loopback in hexadecimal parts": "https://0x7f.0x0.0x0.0x1:{port}/",
  "loopback as one octal number": "https://017700000001:{port}/",
  "loopback in octal parts": "https://0177.0.0.01:{port}/",
  "loopback in mixed bases": "https://0x7f.0.0.01:{port}/",
  "the short form 127.1": "https://127.1:{port}/",
  "the short form 127.0.1": "https://127.0.1:{port}/",
  "loopback in circled digits": "https://①②⑦.0.0.①:{port}/",
  "loopback in full-width digits": "https://１２７.０.０.１:{port}/",
  "loopback with ideographic full stops": "https://127。0。0。1:{port}/",
  "loopback percent-encoded": "https://%31%32%37.0.0.1:{port}/",
  "the unspecified address": "https://0.0.0.0:{port}/",
  "the unspecified address as 0": "https://0:{port}/",
  "IPv6 loopback": "https://[::1]:{port}/",
  "IPv6 loopback in full": "https://[0:0:0:0:0:0:0:1]:{port}/",
  "the unspecified IPv6 address": "https://[::]:{port}/",
  "IPv4-mapped IPv6": "https://[::ffff:127.0.0.1]:{port}/",
  "IPv4-mapped IPv6 in hexadecimal": "https://[::ffff:7f00:1]:{port}/",
  "IPv4-compatible IPv6": "https://[::127.0.0.1]:{port}/",
  "IPv4-translated IPv6": "https://[::ffff:0:127.0.0.1]:{port}/",
  "NAT64, the well-known prefix": "https://[64:ff9b::7f00:1]:{port}/",
  "NAT64, the local prefix": "https://[64:ff9b:1::7f00:1]:{port}/",
  "6to4": "https://[2002:7f00:1::]:{port}/",
  "6to4 of a private address": "https://[2002:a00:1::1]:{port}/",
  Teredo: "https://[2001:0:4136:e378:8000:63bf:80ff:fffe]:{port}/",
  "carrier-grade NAT": "https://100.64.0.1:{port}/",
  "link-local metadata": "https://169.254.169.254:{port}/latest/meta-data/",
  "link-local metadata as one decimal number": "https://2852039166:{port}/",
  "link-local metadata, IPv4-mapped": "https://[::ffff:a9fe:a9fe]:{port}/",
  "metadata of Alibaba": "https://100.100.100.200:{port}/",
  "metadata of Oracle": "https://192.0.0.192:{port}/opc/v2/",
  "wire server of Azure": "https://168.63.129.16:{port}/machine?comp=goalstate",
  "wire server of Azure, IPv4-mapped": "https://[::ffff:168.63.129.16]:{port}/",
  "link-local IPv6": "https://[fe80::1]:{port}/",
  "unique local IPv6, metadata of Amazon": "https://[fd00:ec2::254]:{port}/",
  "site-local IPv6": "https://[fec0::1]:{port}/",
  "a private address, 10/8": "https://10.1.2.3:{port}/",
  "a private address, 172.16/12": "https://172.31.255.254:{port}/",
  "a private address, 192.168/16": "https://192.168.1.1:{port}/",
  "a benchmark network": "https://198.18.0.1:{port}/",
  "a documentation network": "https://203.0.113.7:{port}/",
  multicast: "https://224.0.0.1:{port}/",
  "IPv6 multicast": "https://[ff02::1]:{port}/",
  broadcast: "https://255.255.255.255:{port}/",
  "a reserved network": "https://240.0.0.1:{port}/",
};

/** The addresses that a listed name resolves to. */
const names: Readonly<Record<string, readonly string[]>> = {
  "a name of loopback": ["127.0.0.1"],
  "a name of IPv6 loopback": ["::1"],
  "a name of a private address": ["10.0.0.7"],
  "a name of metadata": ["169.254.169.254"],
  "a name of carrier-grade NAT": ["100.127.255.254"],
  "a name of an IPv4-mapped address": ["::ffff:127.0.0.1"],
  "a name of a NAT64 address": ["64:ff9b::a00:1"],
  "a name with a public and a private address": ["93.184.216.34", "127.0.0.1"],
  "a name with a private address behind many": [...Array.from({ length: 20 }, (_, n) => `93.184.216.${n}`), "10.0.0.1"],
};

/** URLs that the service refuses without a name lookup, although `allowed.test` is on the list. */
const addresses: Readonly<Record<string, string>> = {
  "credentials in the URL": "https://user:secret@allowed.test/",
  "a user alone in the URL": "https://user@allowed.test/",
  "a listed host as the user": "https://allowed.test@127.0.0.1/",
  "another host": "https://elsewhere.test/",
  "a host that ends as a listed one": "https://notallowed.test/",
  "a host that begins as a listed one": "https://allowed.test.evil.example/",
  "a host below a listed one": "https://sub.allowed.test/",
  "plain http": "http://allowed.test/",
  "the port of SSH": "https://allowed.test:22/",
  "the port of SMTP": "https://allowed.test:25/",
  "the port of Redis": "https://allowed.test:6379/",
  "another https port": "https://allowed.test:8443/",
  "port 80 by https": "https://allowed.test:80/",
  "a file": "file:///etc/passwd",
  ftp: "ftp://allowed.test/",
  gopher: "gopher://allowed.test/_",
  "a data address": "data:text/plain,hello",
  localhost: "https://localhost/",
};

/** Starts a server that counts its connections. */
async function counting(t: Test, host = "127.0.0.1", port = 0) {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"));
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("it does not listen");
  return { port: address.port, connections: () => connections };
}

function outboundTo(t: Test, allow: string, resolve: Resolve): Outbound {
  const outbound = createOutbound({ allowList: parseAllowList(allow), resolve, maxBodyBytes: 1_024 });
  t.teardown(() => outbound.close());
  return outbound;
}

const post = (outbound: Outbound, text: string) =>
  outbound.post({
    url: new URL(text),
    headers: {},
    body: "{}",
    timeoutMs: 5_000,
    signal: new AbortController().signal,
  });

const never: Resolve = async (host) => {
  throw new Error(`${host} was looked up`);
};

t.test(
  "an address that is not public is refused in whatever form it is written, though its host is listed",
  async (t) => {
    const { port, connections } = await counting(t);
    for (const [name, template] of Object.entries(literals)) {
      const text = template.replace("{port}", String(port));
      const { host, hostname } = new URL(text);
      const outbound = outboundTo(t, host.replace(/\.(?=:|$)/, ""), never);
      await t.rejects(post(outbound, text), RequestRefused, `${name}: ${template}`);
      t.notOk(isPublicAddress(hostname.replace(/^\[|\]$|\.$/g, "")), `${name}: it is no public address`);
    }
    t.equal(connections(), 0, "nobody came");
  },
);

t.test("a listed name that leads to an address that is not public is refused at the connection", async (t) => {
  const { port, connections } = await counting(t);
  for (const [name, resolved] of Object.entries(names)) {
    const outbound = outboundTo(t, `allowed.test:${port}`, async () => resolved);
    await t.rejects(post(outbound, `https://allowed.test:${port}/`), { message: /is not a public address/ }, name);
    await t.rejects(
      guardedAddress("allowed.test", false, async () => resolved),
      AddressRefused,
      name,
    );
  }
  t.equal(connections(), 0, "nobody came");
});

t.test("an unlisted host is refused before it is resolved, when written and when sent", async (t) => {
  const list = parseAllowList("allowed.test");
  const outbound = outboundTo(t, "allowed.test", never);
  for (const [name, text] of Object.entries(addresses)) {
    t.type(findRefusalReason(text, list), "string", `${name}, when written: ${text}`);
    await t.rejects(post(outbound, text), RequestRefused, `${name}, when sent: ${text}`);
  }
  t.equal(findRefusalReason("https://allowed.test/in?x=1", list), null, "and what it names is not");
});

t.test("a name is resolved once for each connection, which goes to the checked address", async (t) => {
  const first = await counting(t);
  const second = await counting(t, "127.0.0.2", first.port);
  let lookups = 0;
  const resolve: Resolve = async () => {
    lookups += 1;
    return [lookups === 1 ? "127.0.0.1" : "127.0.0.2"];
  };
  const origin = `http://rebound.test:${first.port}`;
  t.equal((await post(outboundTo(t, origin, resolve), `${origin}/`)).status, 200);
  t.same([lookups, first.connections(), second.connections()], [1, 1, 0]);
});

t.test("a name that turns from public to private between two requests is refused at the second", async (t) => {
  const { port, connections } = await counting(t);
  const answers = [["93.184.216.34"], ["127.0.0.1"]];
  const resolve: Resolve = async () => answers.shift() ?? ["127.0.0.1"];
  t.equal(
    await guardedAddress("rebound.test", false, resolve),
    "93.184.216.34",
    "the check when it is looked at first",
  );
  await t.rejects(
    post(outboundTo(t, `rebound.test:${port}`, resolve), `https://rebound.test:${port}/`),
    RequestRefused,
  );
  t.equal(connections(), 0);
});

t.test("a redirect is an answer like any other, and is not followed", async (t) => {
  const { port, connections } = await counting(t);
  for (const status of [301, 302, 303, 307, 308]) {
    const location = `http://127.0.0.1:${port}/`;
    const receiver = await hookReceiver(t, (response) => response.writeHead(status, { location }).end());
    // The service does not follow redirects, not even to an allowed address.
    const outbound = outboundTo(t, `${receiver.url},http://127.0.0.1:${port}`, never);
    t.equal((await post(outbound, receiver.url)).status, status, `${status} to loopback`);
  }
  t.equal(connections(), 0, "nobody came");
});

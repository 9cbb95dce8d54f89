import t from "tap";
import {
  AddressRefused,
  guardedAddress,
  isCloudService,
  isPublicAddress,
} from "../../../actors/outbound/http/address-guard.js";
import { InvalidAllowList, parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { createOutbound, RequestRefused } from "../../../actors/outbound/http/request.js";
import { hookReceiver } from "../../support/hook-receiver.js";

t.test("only public addresses are public, in any notation", async (t) => {
  const refused = [
    ...["127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
    ...["169.254.169.254", "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.9"],
    ...["224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...["::", "::1", "fe80::1", "fc00::1", "fd12:3456::1", "ff02::1", "2001:db8::1"],
    ...[
      "::ffff:127.0.0.1",
      "::ffff:10.0.0.1",
      "::ffff:a9fe:a9fe",
      "::127.0.0.1",
      "64:ff9b::7f00:1",
      "64:ff9b::169.254.169.254",
    ],
    // Reserved or unassigned addresses, and addresses that a network may translate to any other address.
    ...["64:ff9b:1::808:808", "64:ff9b:1:7f00:0:100:808:808", "fec0::1", "5f00::1", "4000::1", "1::1", "0:0:0:1::1"],
    ...["2002:7f00:1::", "2002:a9fe:a9fe::1", "not an address", "", "2130706433", "0x7f000001", "fe80::1%eth0"],
  ];
  for (const address of refused) t.notOk(isPublicAddress(address), address);
  for (const address of [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "2606:4700:4700::1111",
    "::ffff:1.1.1.1",
    "64:ff9b::808:808",
  ]) {
    t.ok(isPublicAddress(address), address);
  }
});

t.test("the clouds' metadata addresses are recognised in any notation, and are never public", async (t) => {
  const services = [
    ...["169.254.169.254", "169.254.170.2", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "fe80::1", "fe80::a9fe:a9fe"],
    ...["168.63.129.16", "::ffff:168.63.129.16", "::ffff:a83f:8110", "64:ff9b::168.63.129.16", "2002:a83f:8110::"],
    ...["100.100.100.200", "::ffff:100.100.100.200", "192.0.0.192", "::ffff:c000:c0", "64:ff9b::192.0.0.192"],
    ...["fd00:ec2::254", "fd00:0ec2:0::0254", "FD00:EC2::254", "fd20:ce::254"],
  ];
  for (const address of services) {
    t.ok(isCloudService(address), address);
    t.notOk(isPublicAddress(address), address);
  }
  for (const address of ["168.63.129.15", "100.100.100.201", "192.0.0.193", "10.0.0.1", "127.0.0.1", "fd00:ec2::255"]) {
    t.notOk(isCloudService(address), address);
  }
});

t.test("hosts in other number notations are normalized by the URL", async (t) => {
  for (const text of [
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://①②⑦.0.0.1/",
  ]) {
    t.notOk(isPublicAddress(new URL(text).hostname), text);
  }
});

t.test("a name is refused when one of its addresses is not public, and the checked address is returned", async (t) => {
  const resolve = (addresses: string[]) => async () => addresses;
  t.equal(await guardedAddress("example.com", false, resolve(["1.1.1.1", "1.0.0.1"])), "1.1.1.1");
  await t.rejects(guardedAddress("example.com", false, resolve(["1.1.1.1", "127.0.0.1"])), AddressRefused);
  await t.rejects(guardedAddress("[::1]", false, resolve([])), AddressRefused);
  t.equal(await guardedAddress("localhost", true, resolve(["127.0.0.1"])), "127.0.0.1");
  await t.rejects(guardedAddress("nowhere.example", false, resolve([])), /no address/);
});

t.test("an allow-list admits its entries and no look-alikes", async (t) => {
  const list = parseAllowList("hooks.example.com, *.acme.com, api.example.com:8443, http://127.0.0.1:9000");
  const admitted = (text: string) => list.admits(new URL(text)).admitted;
  for (const text of [
    "https://hooks.example.com/x",
    "https://a.acme.com",
    "https://a.b.acme.com",
    "https://api.example.com:8443/",
    "http://127.0.0.1:9000/in",
  ]) {
    t.ok(admitted(text), text);
  }
  for (const text of [
    ...[
      "http://hooks.example.com",
      "https://hooks.example.com:444",
      "https://xhooks.example.com",
      "https://hooks.example.com.evil.com",
    ],
    ...[
      "https://acme.com",
      "https://evilacme.com",
      "https://api.example.com",
      "https://127.0.0.1:9000",
      "http://127.0.0.1:9001",
    ],
    ...["https://user:pass@hooks.example.com", "ftp://hooks.example.com", "http://127.0.0.1.nip.io:9000"],
  ]) {
    t.notOk(admitted(text), text);
  }
  t.notOk(parseAllowList("").admits(new URL("https://example.com")).admitted, "an empty list admits nothing");
  t.match(list.admits(new URL("http://127.0.0.1:9000")), { admitsPrivate: true });
  t.match(list.admits(new URL("https://hooks.example.com")), { admitsPrivate: false });
  for (const wrong of ["http://x/path", "a b", "https://user@x", "*.", "x/y", "ftp://x"])
    t.throws(() => parseAllowList(wrong), InvalidAllowList, wrong);
});

t.test("a listed name that now resolves to a private address is refused at the connection", async (t) => {
  const receiver = await hookReceiver(t, (response) => response.end("{}"));
  const port = new URL(receiver.url).port;
  const outbound = createOutbound({
    allowList: parseAllowList(`rebound.example:${port}`),
    resolve: async () => ["127.0.0.1"],
    maxBodyBytes: 1_024,
  });
  t.teardown(() => outbound.close());
  const request = { url: new URL(`https://rebound.example:${port}/`), headers: {}, body: "{}", timeoutMs: 5_000 };
  await t.rejects(outbound.post({ ...request, signal: new AbortController().signal }), RequestRefused);
  t.equal(receiver.requests.length, 0);
});

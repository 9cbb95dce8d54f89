import t from "tap";
import { createClientAddress, parseNetworks, toSource } from "../../../http/limits/client-address.js";

const request = (remoteAddress: string, forwarded?: string) => ({
  remoteAddress,
  header: (name: string) => (name === "x-forwarded-for" ? forwarded : undefined),
});

t.test("without trusted proxies the header is not looked at", async (t) => {
  t.equal(createClientAddress([])(request("192.0.2.1", "203.0.113.9")), "192.0.2.1");
});

t.test("the client is the last address that is no trusted proxy, whatever precedes it", async (t) => {
  const toClient = createClientAddress(parseNetworks("10.0.0.0/8, 192.0.2.1, fd00::/8"));
  const cases: readonly (readonly [string, string | undefined, string])[] = [
    ["198.51.100.7", "203.0.113.9", "198.51.100.7"],
    ["10.1.2.3", "203.0.113.9", "203.0.113.9"],
    ["192.0.2.1", "1.1.1.1, 203.0.113.9", "203.0.113.9"],
    ["192.0.2.1", "1.1.1.1, 203.0.113.9, 10.0.0.5", "203.0.113.9"],
    ["10.1.2.3", "10.0.0.5, 10.0.0.6", "10.0.0.5"],
    ["10.1.2.3", undefined, "10.1.2.3"],
    ["10.1.2.3", "", "10.1.2.3"],
    ["10.1.2.3", "unknown", "10.1.2.3"],
    ["10.1.2.3", "203.0.113.9, <script>", "10.1.2.3"],
    ["10.1.2.3", "203.0.113.9:4711", "203.0.113.9"],
    ["10.1.2.3", "[2001:db8::1]:4711", "2001:db8::1"],
    ["10.1.2.3", "2001:db8::1", "2001:db8::1"],
    ["::ffff:10.1.2.3", "203.0.113.9", "203.0.113.9"],
    ["0000:0000:0000:0000:0000:ffff:0a01:0203", "::ffff:203.0.113.9", "203.0.113.9"],
    ["fd00::5", "203.0.113.9", "203.0.113.9"],
    ["", "203.0.113.9", ""],
  ];
  for (const [remote, forwarded, client] of cases) {
    t.equal(toClient(request(remote, forwarded)), client, `${remote} with ${forwarded}`);
  }
});

t.test("an invalid address or network is named", async (t) => {
  for (const text of ["proxy.example", "10.0.0.0/33", "10.0.0.1, x", "10.0.0.0/"]) {
    t.throws(() => parseNetworks(text), /is not an address or a network/, text);
  }
  t.same(parseNetworks(" , "), []);
});

t.test("one client of IPv6 has all addresses of its /64", async (t) => {
  t.equal(toSource("2001:db8:1:2:3:4:5:6"), toSource("2001:0db8:0001:0002::9"));
  t.not(toSource("2001:db8:1:2::1"), toSource("2001:db8:1:3::1"));
  t.equal(toSource("::ffff:192.0.2.1"), "192.0.2.1");
  t.equal(toSource("192.0.2.1"), "192.0.2.1");
  t.equal(toSource("a:strange:thing"), "a:strange:thing");
});

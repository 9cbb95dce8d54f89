import t from "tap";
import { toStorableHeaders } from "../../../actors/integrations/stored-headers.js";

t.test("headers are kept under their own names, whatever these are, without signature and credentials", async (t) => {
  const headers = new Map([
    ["x-delivery", "d1"],
    ["__proto__", "p1"],
    ["x-signature", "s1"],
    ["authorization", "canary"],
    ["x-auth", "canary"],
    ["x-webhook-key", "canary"],
    ["x-author", "Ada"],
    ["idempotency-key", "i1"],
  ]);
  const kept = toStorableHeaders(headers, "X-Signature");
  t.same(Object.entries(kept), [
    ["x-delivery", "d1"],
    ["__proto__", "p1"],
    ["x-author", "Ada"],
    ["idempotency-key", "i1"],
  ]);
});

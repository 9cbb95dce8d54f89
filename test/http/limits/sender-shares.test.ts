import t from "tap";
import { toShare } from "../../../http/limits/sender-shares.js";

t.test(
  "an address has eight shares, the same one for an audience each time, and nothing of another address",
  async (t) => {
    const audiences = Array.from({ length: 200 }, (_, n) => `ws_${n}`);
    t.equal(new Set(audiences.map((audience) => toShare("192.0.2.7", audience))).size, 8);
    t.equal(toShare("192.0.2.7", "ws_1"), toShare("192.0.2.7", "ws_1"));
    t.not(toShare("192.0.2.7", "ws_1"), toShare("192.0.2.8", "ws_1"));
    t.equal(toShare("192.0.2.7", null), "192.0.2.7");
  },
);

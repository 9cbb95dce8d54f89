import t from "tap";
import { toFailureCode } from "../../../../actors/hooks/delivery/failure-codes.js";

t.test("statuses have their codes", async (t) => {
  const codes = {
    200: null,
    204: null,
    301: "rejected",
    400: "rejected",
    408: "throttled",
    425: "throttled",
    429: "throttled",
    500: "server-error",
    599: "server-error",
  };
  for (const [status, code] of Object.entries(codes)) t.equal(toFailureCode(Number(status)), code, status);
});

import t from "tap";
import { startTestService } from "../support/service.js";

t.test("a person signs in over a link that is used once", async (t) => {
  const service = await startTestService(t);
  const token = await service.linkFor("ada@example.com");
  const opened = await service.anonymous.request("POST", "/api/sessions", { token });
  t.equal(opened.status, 204);
});

import { createHmac } from "node:crypto";
import t from "tap";
import { toShare } from "../../../http/limits/sender-shares.js";
import { expr } from "../../support/integration.js";
import { ManualClock } from "../../support/manual-clock.js";
import { toSlug, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const SECRET = "a key that its sender has, too";

t.test(
  "a flood for one workspace has nothing refused that is for another in another share of its sender",
  async (t) => {
    const clock = new ManualClock();
    const settings = { RATE_PER_ADDRESS: "3", RATE_PER_CREDENTIAL: "0" };
    const service = await startTestService(t, { clock, settings });
    const owner = await service.signIn("ada@example.com");
    let made = 0;
    /**
     * Creates a workspace with two integrations that receive deliveries. A sender's rate limit has several shares, and
     * each workspace belongs to one share. With `besides`, the new workspace belongs to another share than the
     * workspace `besides`.
     */
    const receiver = async (besides?: string) => {
      let { workspaceId, teamId } = await workspaceWithTeam(owner, `w${made++}`);
      while (besides !== undefined && toShare("", workspaceId) === toShare("", besides)) {
        ({ workspaceId, teamId } = await workspaceWithTeam(owner, `w${made++}`));
      }
      const secret = { name: "key", value: SECRET, valueVersion: 1 };
      await owner.create(`/api/resources/workspaces/${workspaceId}/secrets`, secret);
      const webhook = {
        verify: { hmac: { secret: "key", header: "x-signature" } },
        events: [{ raise: { say: expr("body.text") } }],
      };
      const create = async (integration: string) => {
        const fields = { integration, name: integration, webhook };
        return (await owner.create(`/api/resources/teams/${teamId}/integrations`, fields)).id;
      };
      return { workspaceId, first: await create("tracker"), second: await create("chat") };
    };
    const busy = await receiver();
    const quiet = await receiver(busy.workspaceId);
    clock.advance(10_000);
    const signature = createHmac("sha256", SECRET).update("{}").digest("hex");
    const deliver = (id: string, key = signature) =>
      service.anonymous.request("POST", `/api/integrations/${id}/deliveries`, "{}", { "x-signature": key });
    for (let count = 0; count < 10; count++) t.equal((await deliver(busy.first, "00")).status, 401);
    for (let count = 0; count < 20; count++) t.equal((await deliver(busy.first)).status, 202);
    const refused = await deliver(busy.first);
    t.equal(toSlug(refused), "too-many-requests");
    t.equal((await deliver(busy.second)).status, 429, "those of a workspace are counted together");
    t.equal((await deliver(quiet.first)).status, 202);
    for (let count = 0; count < 30; count++) t.equal((await deliver(`int_${count}`)).status, 404);
    t.equal((await deliver("int_30")).status, 429, "what is for nobody is counted for who sends it");
    t.equal((await deliver(quiet.first)).status, 202);
    clock.advance(1_000);
    t.equal((await deliver(busy.first)).status, 202);
  },
);

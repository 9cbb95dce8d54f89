import type { CommandCase, CommandScene } from "../../../support/command-cases.js";
import { listItems } from "../../../support/resources.js";

/** Returns the id of the first delivery of the scene's integration. This delivery opened a task. */
async function firstDelivery({ person, workspaceId }: CommandScene): Promise<string> {
  const [integration] = listItems(await person.request("GET", `/api/resources/workspaces/${workspaceId}/integrations`));
  const deliveries = listItems(await person.request("GET", `/api/integrations/${integration?.id}/deliveries`));
  return String(deliveries.at(-1)?.id);
}

export const deliveryCases: readonly CommandCase[] = [
  {
    name: "delivery list",
    args: () => ["tracker", "--state", "done", "--limit", "5"],
    prints: /^DELIVERY +RECEIVED +SOURCE +STATE +KEY +WHY\ndlv_\S+ +\S+Z +webhook +done +d1 +-$/,
    json: { items: [{ state: "done", key: "d1" }], hasMore: false, refused: { count: 0 } },
    wrong: ["--state", "asleep"],
  },
  {
    name: "delivery show",
    args: async (scene) => [await firstDelivery(scene)],
    prints: /^done\ndelivery +dlv_[\s\S]*\n0 +0 +opened +task_[\s\S]*x-kind: issue[\s\S]*"issues":\[\{"id":1/,
    json: { state: "done", key: "d1", entries: [{ outcome: "opened" }] },
    wrong: ["one", "two"],
  },
  {
    name: "delivery try",
    args: () => ["--integration", "core/tracker", "--header", "X-Delivery: d2"],
    input: '{"project": "One", "issues": [{"id": 7, "title": "Again", "open": true}]}',
    prints:
      /^the delivery would be rejected \(no-signature\)\nkey: d2\ndone\n\nevent 0, entry 0: opened\n {2}title: Again\n/,
    json: { isVerified: false, key: "d2", entries: [{ raise: { opens: { title: "Again" } } }] },
    wrong: ["--header", "no colon"],
  },
  {
    name: "delivery redeliver",
    args: async (scene) => [await firstDelivery(scene)],
    prints: /^done\ndelivery +dlv_\S+\nsource +redelivery\n[\s\S]*repeats +dlv_/,
    json: { state: "done", source: "redelivery", redeliveryOf: /^dlv_/ },
    wrong: ["--from", "yesterday"],
  },
];

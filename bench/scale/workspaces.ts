import { createKinds } from "../../actors/catalogue.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { isRefusal } from "../../actors/refusal.js";
import { openWorkspace } from "../../actors/workspaces/open-workspace.js";
import { workspaceRef } from "../../actors/workspaces/workspace.messages.js";
import { readConfig } from "../../http/process/config.js";
import { createLog } from "../../http/process/log.js";
import { startService } from "../../http/process/service.js";
import type { Runtime } from "../../runtime/runtime.js";

const AT_ONCE = 64;

/** Creates workspaces, each with its own team and owner, through a service that it starts on the store in `folder`. */
export async function fillWorkspaces(folder: string, count: number): Promise<void> {
  const config = readConfig({ DATA_DIR: folder, PORT: "0", TRANSPORT: "node", LOG_LEVEL: "silent" });
  const service = await startService({ config, log: createLog("silent") });
  let next = 0;
  const open = async () => {
    for (let n = next++; n < count; n = next++) await openOne(service.runtime, n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, open));
  await service.stop();
}

async function openOne(runtime: Runtime, n: number): Promise<void> {
  const caller = { kind: "person", userId: `usr_${n}`, email: `person-${n}@example.com`, sessionId: "ses_1" } as const;
  const wanted = (kind: string, fields: object) => ({
    kind,
    caller,
    client: null,
    teamId: null,
    hidden: {},
    fields: parse(kind, fields),
    idempotency: { scope: "scale", key: `${kind}-${n}`, digest: "" },
  });
  const opened = await openWorkspace(runtime, wanted("workspace", { slug: `space-${n}`, name: `Space ${n}` }));
  if (isRefusal(opened)) throw new Error("a workspace was refused");
  const team = { ...wanted("team", { key: "core", name: "Core" }), type: "resource.create" } as const;
  await runtime.ask(workspaceRef(opened.resource.id), team);
}

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });

/** Parses fields as the HTTP layer does, with every default filled in. */
function parse(name: string, fields: object): unknown {
  return kinds.find((kind) => kind.name === name)?.schema.parse(fields);
}

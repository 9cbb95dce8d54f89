import { z } from "zod";
import { writeJson } from "../../../actors/exact-json.js";
import { idSchema, problemSchema } from "./check-answer.js";
import { CouldNotAsk } from "./could-not-ask.js";
import type { Credential } from "./credential.js";
import type { LiveLine } from "./planned-checks.js";
import type { Answered, Requests } from "./requests.js";

export interface ServiceOptions {
  readonly requests: Requests;
  /** The base address of the service, without a trailing slash. */
  readonly url: string;
  readonly credential: Credential;
  /**
   * The slug of the selected workspace; null if none is selected. Only a person in several workspaces needs to select a
   * workspace.
   */
  readonly workspace?: string | null;
}

/** Identifies a line. Ids are safe in a path. */
export type LineName =
  | { readonly id: string }
  /** `<team key>/<line key>` */
  | { readonly address: string }
  | { readonly teamId: string; readonly key: string };

const lineSchema = z.looseObject({
  id: idSchema,
  teamId: idSchema,
  address: z.string(),
  repositories: z.array(z.unknown()),
  stations: z.array(z.looseObject({ key: z.string() })),
});
const workspaces = z.looseObject({ items: z.array(z.looseObject({ id: idSchema, slug: z.string() })) });
const teamSchema = z.looseObject({ key: z.string(), workspaceId: idSchema });

/** Sends requests to the service with the command's credential. All methods throw the errors of {@link Requests}. */
export class Service {
  readonly url: string;
  readonly #requests: Requests;
  readonly #credential: Credential;
  readonly #workspace: string | null;

  constructor({ requests, url, credential, workspace = null }: ServiceOptions) {
    this.url = url;
    this.#workspace = workspace;
    this.#requests = requests;
    this.#credential = credential;
  }

  get(path: string): Promise<Answered> {
    return this.#send("GET", path, {});
  }

  post(path: string, body: unknown, idempotencyKey: string): Promise<Answered> {
    return this.#send("POST", path, {
      body: writeJson(body),
      headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
    });
  }

  /** Reads the current line. Throws {@link CouldNotAsk} if that fails. */
  async findLine(name: LineName): Promise<LiveLine> {
    const path = await this.#readPath(name);
    const answer = await this.get(path);
    const line = lineSchema.safeParse(answer.body).data;
    if (answer.status !== 200 || line === undefined) throw refusal(`Cannot read the line ${toName(name)}`, answer);
    return line;
  }

  async #readPath(name: LineName): Promise<string> {
    if ("id" in name) return `/api/resources/lines/${name.id}`;
    if ("address" in name) return importPath(await this.#workspaceId(), name.address);
    const answer = await this.get(`/api/resources/teams/${name.teamId}`);
    const team = teamSchema.safeParse(answer.body).data;
    if (answer.status !== 200 || team === undefined) throw refusal("Cannot read the line's team", answer);
    return importPath(team.workspaceId, `${team.key}/${name.key}`);
  }

  /**
   * Returns the id of the selected workspace, or of the only workspace that the caller can read. Throws {@link
   * CouldNotAsk} if the caller can read several and none is selected.
   */
  async #workspaceId(): Promise<string> {
    const answer = await this.get("/api/resources/workspaces");
    const items = workspaces.safeParse(answer.body).data?.items ?? [];
    const [first, second] = items;
    if (answer.status !== 200 || first === undefined) throw refusal("Cannot read the workspace", answer);
    const selected = items.find(({ slug }) => slug === this.#workspace);
    if (selected !== undefined || second === undefined) return (selected ?? first).id;
    const slugs = items.map(({ slug }) => slug).join(", ");
    throw new CouldNotAsk(
      `You are in several workspaces (${slugs}): run signalbox use <workspace>/<team>, or give the line's id.`,
    );
  }

  /**
   * Sends a request. If the service rejects the token and the credential can get another, retries once with the new
   * token.
   */
  async #send(
    method: "GET" | "POST",
    path: string,
    { body, headers = {} }: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Answered> {
    const ask = async (): Promise<Answered> =>
      this.#requests.send({
        url: `${this.url}${path}`,
        what: `the service at ${this.url}`,
        method,
        headers: { ...headers, ...(await this.#credential.headers()) },
        ...(body === undefined ? {} : { body }),
      });
    const answer = await ask();
    return answer.status === 401 && this.#credential.refused() ? ask() : answer;
  }
}

/** Returns the line's name in messages: its id, its address, or its key with the team's id. */
function toName(name: LineName): string {
  if ("id" in name) return name.id;
  return "address" in name ? name.address : `${name.key} of ${name.teamId}`;
}

function importPath(workspaceId: string, address: string): string {
  const query = new URLSearchParams({ address });
  return `/api/resources/workspaces/${workspaceId}/lines/import?${query}`;
}

/** Creates an error from a refusal, with the service's message. */
export function refusal(what: string, { status, body }: Answered): CouldNotAsk {
  const detail = problemSchema.safeParse(body).data?.detail ?? "";
  return new CouldNotAsk(`${what}: the service responded with status ${status}${detail === "" ? "." : `: ${detail}`}`);
}

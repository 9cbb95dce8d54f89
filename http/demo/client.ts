import { WebSocket } from "ws";

/** An API client with a person's session. */
export class Client {
  readonly #baseUrl: string;
  #cookie = "";
  #keys = 0;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** Signs in with the link that the service logged; `linkFor` finds it in the log. */
  async signIn(email: string, linkFor: (email: string) => string | undefined): Promise<void> {
    await this.post("/api/sign-in", { email });
    const link = linkFor(email);
    if (link === undefined) throw new Error("no sign-in link was written");
    const token = link.slice(link.lastIndexOf("/") + 1);
    const { headers } = await this.#send("POST", "/api/sessions", { token });
    this.#cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
  }

  async get<Body>(path: string): Promise<Body> {
    return (await (await this.#send("GET", path)).json()) as Body;
  }

  /** Returns the body and headers. Throws with the detail of a refusal. */
  async post<Body = { readonly id: string }>(
    path: string,
    body: unknown,
  ): Promise<{ readonly body: Body; readonly headers: Headers }> {
    const answer = await this.#send("POST", path, body);
    const text = await answer.text();
    return { body: JSON.parse(text === "" ? "{}" : text) as Body, headers: answer.headers };
  }

  /** Opens the change stream; the result subscribes to topics and closes the stream. */
  async follow(
    handle: (message: { readonly topic: string; readonly kind: string; readonly data: unknown }) => void,
  ): Promise<{ subscribe(topic: string): void; end(): void }> {
    const socket = new WebSocket(`${this.#baseUrl.replace(/^http/, "ws")}/api/stream`, {
      headers: { cookie: this.#cookie },
    });
    socket.on("message", (data) => handle(JSON.parse(data.toString())));
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return {
      subscribe: (topic) => socket.send(JSON.stringify({ subscribe: topic })),
      end: () => socket.close(),
    };
  }

  async #send(method: string, path: string, body?: unknown): Promise<Response> {
    this.#keys += 1;
    const answer = await fetch(`${this.#baseUrl}${path}`, {
      method,
      headers: {
        cookie: this.#cookie,
        "idempotency-key": `demo-${this.#keys}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.ok) return answer;
    throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
  }
}

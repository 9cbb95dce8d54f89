import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { request } from "undici";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What a request came back with; `body` is parsed JSON, or null when there was none. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Record<string, unknown> | null;
}

/** The real service as a process of its own, on the built code and a folder that outlives it. */
export class ServiceProcess {
  readonly baseUrl: string;
  readonly #child: ChildProcess;
  readonly #lines: string[];

  private constructor(child: ChildProcess, baseUrl: string, lines: string[]) {
    this.#child = child;
    this.baseUrl = baseUrl;
    this.#lines = lines;
  }

  /** Starts it and waits until it listens. `port` 0 picks a free one. Rejects with its output when it ends instead. */
  static async start(dataFolder: string, settings: Record<string, string> = {}, port = 0): Promise<ServiceProcess> {
    const child = spawn(process.execPath, [`${root}http/process/main.js`], {
      env: { PATH: process.env.PATH ?? "", DATA_DIR: dataFolder, PORT: String(port), ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    // Every request of a killed service waits for its end.
    child.setMaxListeners(100);
    const lines: string[] = [];
    const baseUrl = await new Promise<string>((resolve, reject) => {
      let rest = "";
      const hear = (chunk: Buffer) => {
        const parts = (rest + chunk.toString("utf8")).split("\n");
        rest = parts.pop() ?? "";
        for (const line of parts) {
          lines.push(line);
          const found = /listening on (http[^\s"]+)/.exec(line);
          if (found?.[1] !== undefined) resolve(found[1]);
        }
      };
      child.stdout?.on("data", hear);
      child.stderr?.on("data", hear);
      child.once("exit", (code) => reject(new Error(`the service ended with ${code}:\n${lines.join("\n")}`)));
    });
    return new ServiceProcess(child, baseUrl, lines);
  }

  get port(): number {
    return Number(new URL(this.baseUrl).port);
  }

  /** Everything it wrote, a line each. */
  get output(): readonly string[] {
    return this.#lines;
  }

  /** Ends it with `signal` and waits for its end; gives its exit code, null after a signal that killed it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
    return this.#child.exitCode;
  }

  async request(
    method: "GET" | "POST" | "PUT" | "DELETE",
    path: string,
    options: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
  ): Promise<Reply> {
    const answer = await request(`${this.baseUrl}${path}`, {
      method,
      headers: {
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    });
    const text = await answer.body.text();
    const parsed: unknown = text === "" ? null : JSON.parse(text);
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: typeof parsed === "object" ? (parsed as Record<string, unknown> | null) : null,
    };
  }

  /** Signs in over the link in the log and gives the cookie header. */
  async signIn(email: string): Promise<Record<string, string>> {
    await this.request("POST", "/api/sign-in", { body: { email } });
    const token = await this.#linkFor(email);
    const answer = await this.request("POST", "/api/sessions", { body: { token } });
    const cookie = [answer.headers["set-cookie"]].flat()[0]?.split(";")[0];
    if (answer.status !== 204 || cookie === undefined) throw new Error(`sign-in answered ${answer.status}`);
    return { cookie };
  }

  async #linkFor(email: string): Promise<string> {
    const wanted = new RegExp(`sign-in link for ${email}: \\S+/sign-in/([A-Za-z0-9_-]+)`);
    for (;;) {
      for (const line of this.#lines.toReversed()) {
        const found = wanted.exec(line);
        if (found?.[1] !== undefined) return found[1];
      }
      await once(this.#child.stdout ?? this.#child, "data");
    }
  }
}

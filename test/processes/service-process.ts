import { spawn } from "node:child_process";
import { request } from "undici";
import { signalbox } from "../support/signalbox-command.js";
import { ChildProgram } from "./child-program.js";

/** The answer to a request; `body` is the parsed JSON, or null if there is none. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Record<string, unknown> | null;
}

/** The service as a separate process, started as people start it. Its folder stays when the process ends. */
export class ServiceProcess extends ChildProgram {
  #baseUrl = "";

  /**
   * Starts the service and waits until it listens. With `port` 0, the service picks a free port. `nodeArguments` are
   * options of Node, such as a memory limit. If the service exits first, rejects with the service's output.
   */
  static async start(
    dataFolder: string,
    settings: Record<string, string> = {},
    port = 0,
    nodeArguments: readonly string[] = [],
  ): Promise<ServiceProcess> {
    const service = new ServiceProcess(
      spawn(process.execPath, [...nodeArguments, signalbox, "serve"], {
        env: { PATH: process.env.PATH ?? "", DATA_DIR: dataFolder, PORT: String(port), ...settings },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
    const [, baseUrl = ""] = await service.said(/listening on (http[^\s"]+)/);
    service.#baseUrl = baseUrl;
    return service;
  }

  get baseUrl(): string {
    return this.#baseUrl;
  }

  get port(): number {
    return Number(new URL(this.baseUrl).port);
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

  /** Signs in with the link in the log; returns the cookie header. */
  async signIn(email: string): Promise<Record<string, string>> {
    await this.request("POST", "/api/sign-in", { body: { email } });
    const [, token = ""] = await this.said(new RegExp(`sign-in link for ${email}: \\S+/sign-in/([A-Za-z0-9_-]+)`));
    const answer = await this.request("POST", "/api/sessions", { body: { token } });
    const cookie = [answer.headers["set-cookie"]].flat()[0]?.split(";")[0];
    if (answer.status !== 204 || cookie === undefined) throw new Error(`sign-in answered ${answer.status}`);
    return { cookie };
  }
}

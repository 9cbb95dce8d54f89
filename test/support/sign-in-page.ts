import { once } from "node:events";
import { runInNewContext } from "node:vm";

/** The page of a sign-in link after the person has clicked the button. */
export interface SignedIn {
  /** The session's cookie; empty if the sign-in failed. */
  readonly cookie: string;
  /** The address that the page continues to; null if it stays and shows a text. */
  readonly next: string | null;
  readonly text: string;
}

/** Opens the page of a sign-in link, runs its script without a browser, and clicks its button. */
export async function signInOnPage(link: string): Promise<SignedIn> {
  const url = new URL(link);
  const page = await (await fetch(url)).text();
  const [, script = ""] = /<script>([\s\S]*)<\/script>/.exec(page) ?? [];
  const button = Object.assign(new EventTarget(), { remove: () => undefined });
  const paragraph = { textContent: "" };
  const ended = new EventTarget();
  const signedIn = { cookie: "", next: null as string | null };
  runInNewContext(script, {
    document: { querySelector: (name: string) => (name === "button" ? button : paragraph) },
    location: {
      pathname: url.pathname,
      hash: url.hash,
      replace: (to: string) => {
        signedIn.next = new URL(to, url).href;
        ended.dispatchEvent(new Event("end"));
      },
    },
    history: { replaceState: () => setImmediate(() => ended.dispatchEvent(new Event("end"))) },
    fetch: async (path: string, request: RequestInit) => {
      const answer = await fetch(new URL(path, url), request);
      signedIn.cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
      return answer;
    },
  });
  const end = once(ended, "end");
  button.dispatchEvent(new Event("click"));
  await end;
  return { ...signedIn, text: paragraph.textContent };
}

import { existsSync } from "node:fs";
import { type BrowserContext, chromium } from "playwright-core";
import type { Cleaning } from "./service.js";

const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((each) =>
  existsSync(each),
);
const flags = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

/** Why tests of pages are skipped; false if there is a browser. */
export const noBrowser: string | false = path === undefined ? "there is no Chromium on this machine" : false;

/** A real browser, with a record of its pages' requests and errors. */
export interface WatchedBrowser {
  /** The browser's context. It starts without cookies, and its pages share their cookies. */
  readonly context: BrowserContext;
  /** Addresses that the browser's pages requested. */
  readonly asked: readonly string[];
  /** Errors of the browser's pages, including violations of the pages' content security policy. */
  readonly faults: readonly string[];
}

/** Opens Chromium for one test. */
export async function openBrowser(t: Cleaning): Promise<WatchedBrowser> {
  const browser = await chromium.launch({ executablePath: path ?? "", args: flags });
  t.teardown(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const asked: string[] = [];
  const faults: string[] = [];
  context.on("request", (request) => asked.push(request.url()));
  context.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
  context.on("weberror", (error) => faults.push(String(error.error())));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  return { context, asked, faults };
}

import { toPage } from "../access/page.js";

/**
 * Reads the task with the browser's session, and shows the task's title, its state and what it waits for. If there is
 * no session, or its person may not see the task, offers a sign-in link. The script inserts everything that people or
 * agents wrote as text, never as HTML.
 */
const script = `
const id = location.pathname.split("/").pop();
const [title, state, waits, says] = ["h2", "#state", "#waits", "#says"].map((part) => document.querySelector(part));
const form = document.querySelector("#sign-in");
const [email, button] = [form.querySelector("input"), form.querySelector("button")];
const states = {
  queued: "Queued: it waits for a runner.",
  running: "Running: an agent works on it.",
  inbox: "In the inbox: it waits for a person.",
  done: "Done.",
  closed: "Closed.",
};
let isWaiting = false;

function send(method, path, body) {
  const sent = body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return fetch(path, { method, ...sent });
}

function show(parts) {
  title.textContent = parts.title ?? "";
  state.textContent = parts.state ?? "";
  waits.textContent = parts.waits ?? "";
  says.textContent = parts.says ?? "";
  form.hidden = parts.signIn !== true;
}

function waitsFor(task) {
  if (task.state !== "inbox") return "";
  const asks = task.asks ?? "It waits for an answer.";
  return task.assignee === null && task.approvals.length === 0 ? asks + " Nobody is assigned to it." : asks;
}

async function begin() {
  isWaiting = false;
  const answer = await send("GET", "/api/tasks/" + id);
  if (answer.ok) {
    const task = await answer.json();
    return show({ title: task.title, state: states[task.state] ?? task.state, waits: waitsFor(task) });
  }
  if (answer.status === 401) return show({ says: "Sign in to see this task.", signIn: true });
  if (answer.status !== 404) return show({ says: (await answer.json()).detail });
  const who = await send("GET", "/api/sessions/me");
  const me = who.ok ? "You are signed in as " + (await who.json()).email + ". " : "";
  show({ says: me + "There is no task here that you may see.", signIn: true });
}

const failed = () => show({ says: "The service cannot be reached. Reload the page to try again." });

async function askForLink() {
  const address = email.value;
  const asked = await send("POST", "/api/sign-in", { email: address });
  if (!asked.ok) return show({ says: (await asked.json()).detail, signIn: true });
  isWaiting = true;
  show({ says: "A sign-in link is on its way to " + address + ". Open it in this browser, then come back to this page." });
}

button.addEventListener("click", async () => {
  button.disabled = true;
  await askForLink().catch(failed);
  button.disabled = false;
});
document.addEventListener("visibilitychange", () => {
  if (isWaiting && !document.hidden) begin().catch(failed);
});
begin().catch(failed);`;

/** The page that a task link opens in a browser. The page is the same for every task. Its script reads the task. */
export const taskPage = toPage({
  title: "Task on Signalbox",
  body:
    '<h2></h2><p id="state"></p><p id="waits"></p><p id="says">One moment …</p>' +
    '<div id="sign-in" hidden><input type="email" autocomplete="email" placeholder="you@example.com" aria-label="Mail address">' +
    " <button>Send me a sign-in link</button></div><noscript>This page needs JavaScript.</noscript>",
  script,
});

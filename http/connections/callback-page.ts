import { pageOf } from "../access/page.js";

/** Removes the host's parameters from the address, sends them to the service once, and shows the result. */
const script = `
const says = document.querySelector("p");
const given = new URLSearchParams(location.search);
history.replaceState(null, "", location.pathname);

async function bring() {
  const body = {};
  for (const name of ["state", "code", "iss", "error"]) {
    const value = given.get(name);
    if (value !== null) body[name] = value;
  }
  const answer = await fetch("/api/oauth/callback", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (answer.status === 401) {
    says.textContent = "You are not signed in here any more. Sign in and connect the account again.";
    return;
  }
  const told = await answer.json();
  if (!answer.ok) {
    says.textContent = told.detail;
    return;
  }
  const account = told.account === null ? "The account" : "The account " + told.account;
  says.textContent = account + " is connected. You can close this page.";
}

bring().catch(() => {
  says.textContent = "The service cannot be reached. Connect the account again.";
});
`;

/** The page that a host redirects people back to after they consented. */
export const callbackPage = pageOf({
  title: "Connect an account",
  body: "<p>Connecting the account…</p>",
  script,
});

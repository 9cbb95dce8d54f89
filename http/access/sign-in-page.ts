import { pageOf } from "./page.js";

/**
 * The page reads the token from its address and uses it only when the person clicks the button. So a link checker,
 * which opens every link in a mail, does not use it up.
 */
const script = `
document.querySelector("button").addEventListener("click", async () => {
  const token = location.pathname.split("/").pop();
  const answer = await fetch("/api/sessions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  history.replaceState(null, "", "/sign-in/done");
  document.querySelector("p").textContent = answer.ok
    ? "You are signed in."
    : "This link is used up or too old. Ask for a new one.";
  document.querySelector("button").remove();
});`;

/** The page that a sign-in link opens. */
export const signInPage = pageOf({
  title: "Sign in to Signalbox",
  body: "<p>Sign in on this device?</p><button>Sign in</button>",
  script,
});

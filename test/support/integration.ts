/** Returns an expression as a JSON definition contains it. */
export function expr(cel: string): string {
  return ["$", `{{ ${cel} }}`].join("");
}

/** Returns a request with the expression `seen` in its fields. */
const request = (seen: string, more: object = {}) => ({
  url: `https://api.example.com/items/${expr(seen)}`,
  query: { page: expr(seen) },
  headers: { "x-item": `item ${expr(seen)}` },
  body: { nested: [expr(seen), { text: `about ${expr(seen)}` }] },
  expect: { success: expr("status == 200") },
  capture: { number: expr("response.number") },
  ...more,
});

const events = () => [
  {
    forEach: expr("body.items"),
    when: expr('item.kind == "issue"'),
    lookup: { request: request("item.id"), capture: { author: expr("response.user.login") } },
    raise: {
      say: expr("author"),
      opens: {
        line: "dev",
        station: "work",
        title: expr("item.title"),
        description: expr("item.text"),
        assignBy: { email: expr("item.assignee") },
      },
      branch: expr("item.branch"),
      marks: { issue: { value: expr("item.number") } },
      attaches: {
        each: expr("item.files"),
        name: expr("file.name"),
        type: expr("file.type"),
        size: expr("file.size"),
        fetch: { url: `https://files.example.com/${expr("file.path")}` },
      },
    },
  },
];

const signature = () => ({
  header: "x-signature",
  signed: expr("raw"),
  freshness: { at: expr('headers["x-at"]') },
});

/**
 * Returns an integration with an expression at every position of the reference. The integration uses the secret
 * `tracker`.
 */
export function wholeIntegration(): Record<string, unknown> {
  return {
    integration: "tracker",
    name: "Tracker",
    hosts: ["api.example.com", "*.example.com"],
    webhook: {
      verify: { hmac: { secret: "tracker", prefix: "sha256=", ...signature() } },
      respond: { when: expr("has(body.challenge)"), body: expr("{'challenge': {'is': body.challenge}}") },
      mine: expr('body.sender == "signalbox"'),
      route: { by: expr("body.project"), to: { "Project One": { line: "dev", channel: "general" } } },
      delivery: expr('headers["x-delivery"]'),
      events: events(),
    },
    poll: { everyMinutes: 10, request: request("cursor"), cursor: expr("body.next"), events: events() },
    actions: { comment: { request: request("task.line"), schedule: { everyMinutes: 60 } } },
    tools: {
      comment: {
        description: "Comments on an item.",
        action: "comment",
        approval: true,
        output: expr("response.id"),
        inputs: { text: { type: "string", required: true, default: `On ${expr("task.line")}` } },
      },
      close_item: { action: "comment" },
    },
    connection: {
      holder: "requester",
      oauth2: {
        authorizeUrl: "https://api.example.com/authorize",
        tokenUrl: "https://api.example.com/token",
        clientId: "signalbox",
        clientSecret: "tracker",
        scopes: ["items"],
        identity: expr("response.login"),
        issuer: "https://api.example.com",
        revokeUrl: "https://api.example.com/revoke",
        clientAuth: "body",
        identityUrl: "https://api.example.com/user",
        parameters: { access_type: "offline" },
      },
    },
    on: [
      {
        event: "task.asked",
        action: "comment",
        to: { channel: expr("task.marks.channel") },
        mark: { thread: { value: expr("response.thread") } },
      },
    ],
  };
}

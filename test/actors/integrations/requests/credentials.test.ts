import t from "tap";
import { expr } from "../../../support/integration.js";
import { integrationRows, linkAccount, requesting } from "../../../support/integration-rows.js";

const url = "https://api.example.com/items";
const oauth2 = { authorizeUrl: `${url}/authorize`, tokenUrl: `${url}/token`, clientId: "c" };
const { tokenUrl } = oauth2;
const acting = (request: object, more: object = {}) => ({
  actions: { act: { request: { url, ...request } } },
  ...more,
});

t.test(
  "the token is sent as bearer wherever no expression writes it, whatever else is called connection",
  async (t) => {
    const values = JSON.stringify({ inputs: { connection: "c1", connectionId: "c2" }, task: { marks: {} } });
    const findBearer = async (request: object) => {
      const rows = integrationRows(acting(request, { connection: { oauth2 } }));
      linkAccount(rows, "team", { access: "token-1234", tokenUrl });
      const { run, sent } = requesting(rows);
      t.match(await run({ values }), { code: null });
      return sent[0]?.headers.authorization;
    };
    const bearer = "Bearer token-1234";
    t.equal(await findBearer({ url: `${url}/connections/${expr("inputs.connectionId")}` }), bearer);
    t.equal(await findBearer({ body: { connection: expr("inputs.connection"), to: expr("'connection'") } }), bearer);
    t.equal(await findBearer({ query: { token: expr("connection") } }), undefined, "it is written elsewhere");
    t.equal(await findBearer({ body: { in: [expr("{'token': [connection]}")] } }), undefined);
  },
);

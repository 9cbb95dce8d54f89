import t from "tap";
import { createNodeTransport } from "../../http/node-transport.js";
import { drainConformance } from "./transport-drain.js";
import { requestConformance } from "./transport-requests.js";
import { socketConformance } from "./transport-sockets.js";
import { streamConformance } from "./transport-streams.js";

requestConformance(t, createNodeTransport);
socketConformance(t, createNodeTransport);
drainConformance(t, createNodeTransport);
streamConformance(t, createNodeTransport);

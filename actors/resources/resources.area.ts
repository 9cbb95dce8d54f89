import { removeTable } from "../../storage/migration-walks.js";
import { defineArea } from "../area.js";
import { cached } from "../tables/stored-table.js";
import { changeRetention, sequence } from "./change-record.table.js";
import { hashReservationsActor, reservations } from "./hash-reservations.machine.js";
import { attempts, sweeps } from "./idempotency.table.js";
import { resourceAddresses, resources } from "./resource.table.js";
import { resourceHashes } from "./resource-hash.table.js";
import { keyReferrers, lookupKeys, referrers, resourceDependents, resourceSource } from "./resource-indexes.table.js";
import { resourceLocations } from "./resource-location.table.js";

/** Configuration: the rows of all resource kinds, their change log, and the idempotency keys of requests. */
export const resourcesArea = defineArea({
  name: "resources",
  actors: () => [hashReservationsActor],
  tables: [
    cached(resources),
    cached(resourceAddresses),
    cached(lookupKeys),
    referrers,
    keyReferrers,
    changeRetention,
    sequence,
    attempts,
    sweeps,
    reservations,
  ],
  kindIndexes: (kinds) => [resourceDependents(kinds)],
  directories: [cached(resourceLocations), cached(resourceHashes)],
  directorySources: (kinds) => [resourceSource(kinds)],
  migrations: [
    {
      to: 12,
      title: "repeated requests are not listed by age",
      walks: [removeTable("idempotency-age", { of: "all" })],
    },
  ],
});

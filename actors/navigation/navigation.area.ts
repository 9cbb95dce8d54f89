import { defineArea } from "../area.js";
import { titleWalks } from "./title.migration.js";

/** Objects of all areas, by id and by the words of their titles. */
export const navigationArea = defineArea({
  name: "navigation",
  migrations: [{ to: 17, title: "titles are searched by words, and parts of objects by id", walks: titleWalks }],
});

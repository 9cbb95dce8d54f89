import { isAbsolute } from "node:path";
import t from "tap";
import { cacheFolder, configFolder } from "../../../../http/cli/command/places.js";

t.test("a person's folders are where their environment says, and never in the current folder", (t) => {
  t.equal(configFolder({ env: { HOME: "/home/ada" } }), "/home/ada/.config/signalbox");
  t.equal(cacheFolder({ env: { HOME: "/home/ada" } }), "/home/ada/.cache/signalbox");
  const given = { HOME: "/home/ada", XDG_CONFIG_HOME: "/etc/ada", XDG_CACHE_HOME: "/tmp/ada" };
  t.same([configFolder({ env: given }), cacheFolder({ env: given })], ["/etc/ada/signalbox", "/tmp/ada/signalbox"]);
  for (const relative of ["", ".", "config"]) {
    const env = { HOME: "/home/ada", XDG_CONFIG_HOME: relative, XDG_CACHE_HOME: relative };
    t.equal(configFolder({ env }), "/home/ada/.config/signalbox");
    t.equal(cacheFolder({ env }), "/home/ada/.cache/signalbox");
    const folders = [configFolder({ env: { HOME: relative } }), cacheFolder({ env: { HOME: relative } })];
    t.ok(folders.every(isAbsolute), "a home that is not absolute");
  }
  t.end();
});

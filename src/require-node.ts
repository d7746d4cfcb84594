/** Imported before all else: on an older Node.js the SQLite driver would end the process without a word. */
const REQUIRED = 24;

if (Number.parseInt(process.versions.node, 10) < REQUIRED) {
  console.error(`This needs Node.js ${REQUIRED} or newer, and this is ${process.versions.node}`);
  process.exit(1);
}

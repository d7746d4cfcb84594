/** Imported before all else: an older Node.js fails later, and says less. 24.7 brought argon2. */
const REQUIRED = [24, 7] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < REQUIRED[0] || (major === REQUIRED[0] && minor < REQUIRED[1])) {
  console.error(`This needs Node.js ${REQUIRED.join('.')} or newer, and this is ${process.versions.node}`);
  process.exit(1);
}

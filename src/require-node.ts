/** The oldest Node.js that the dependencies support; see `engines` in package.json. */
const MINIMUM = [22, 15] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1])) {
  console.error(`Node.js ${MINIMUM.join('.')} or newer is required, this is ${process.versions.node}`);
  process.exit(1);
}

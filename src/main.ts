import './require-node.js';

// Loaded only after the check: an older Node.js would report a syntax error or a missing export instead.
const { start } = await import('./start.js');
await start();

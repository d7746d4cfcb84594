// Keeps the health on the home page current.

import './copy.js';

/** In milliseconds. */
const INTERVAL = 10_000;

const health = document.getElementById('health');

async function update() {
  if (document.hidden) return;
  const text = await read();
  // Assigning the same text again would make screen readers repeat it.
  if (health.textContent !== text) health.textContent = text;
  health.classList.toggle('bad', text !== 'Healthy');
}

async function read() {
  try {
    const reply = await fetch(new URL('../health/ready', import.meta.url), { cache: 'no-store' });
    if (reply.ok) return 'Healthy';
    const { error } = await reply.json();
    const faults = (error.details ?? []).map(({ field, message }) => `${field} ${message}`);
    return `Not ready for requests: ${faults.join('; ') || error.message}`;
  } catch {
    return 'The service does not respond';
  }
}

setInterval(() => void update(), INTERVAL);
document.addEventListener('visibilitychange', () => void update());

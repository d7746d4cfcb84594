// A button that copies, on each block of code.

import { button } from './elements.js';

/** In milliseconds: how long the button confirms. */
const CONFIRMED = 2000;

/** Browsers allow writing to the clipboard only over HTTPS and on this machine. */
const canCopy = navigator.clipboard !== undefined;

for (const pre of document.querySelectorAll('.code pre')) {
  if (!canCopy) break;
  const copy = button('Copy', async () => {
    await navigator.clipboard.writeText(pre.textContent.trimEnd());
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy'), CONFIRMED);
  });
  copy.classList.add('copy');
  copy.setAttribute('aria-live', 'polite');
  pre.after(copy);
}

// The search over the guides.

import './copy.js';
import { element } from './elements.js';

const MAX_RESULTS = 8;

const form = document.getElementById('search');
const query = document.getElementById('query');
const results = document.getElementById('results');
const status = form.querySelector('[role=status]');

/** Loaded by the first search. */
let index;

async function load() {
  const [{ default: MiniSearch }, reply] = await Promise.all([
    import('./vendor/minisearch.js'),
    fetch(new URL('../guides/search/index.json', import.meta.url)),
  ]);
  const { index: data, options } = await reply.json();
  return MiniSearch.loadJS(data, options);
}

/** Loads again after a failure. */
function loaded() {
  index ??= load();
  index.catch(() => (index = undefined));
  return index;
}

async function search() {
  const text = query.value.trim();
  const found = text === '' ? [] : (await loaded()).search(text).slice(0, MAX_RESULTS);
  // The results of a later text may have arrived first.
  if (text !== query.value.trim()) return;
  results.replaceChildren(...found.map(show));
  if (text !== '' && found.length === 0) results.append(element('li', { textContent: 'Nothing was found.' }));
  results.hidden = text === '';
  status.textContent = text === '' ? '' : `${found.length} result${found.length === 1 ? '' : 's'}`;
}

const show = ({ id, title, heading, excerpt }) =>
  element(
    'li',
    {},
    element(
      'a',
      { href: id },
      element('strong', { textContent: heading ? `${title}: ${heading}` : title }),
      element('span', { textContent: excerpt }),
    ),
  );

function close() {
  results.hidden = true;
}

const openFirst = async () => {
  await search();
  results.querySelector('a')?.click();
};

query.addEventListener('focus', () => void loaded(), { once: true });
query.addEventListener('input', () => void search());
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void openFirst();
});
results.addEventListener('click', close);
document.addEventListener('click', ({ target }) => form.contains(target) || close());
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('input, textarea, select');
  if (event.key === '/' && !isTyping) {
    event.preventDefault();
    query.focus();
  }
  if (event.key === 'Escape') close();
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event);
});

/** Moves between the input and the results by the arrow keys. */
function move(event) {
  const stops = [query, ...results.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  const to = stops[at + (event.key === 'ArrowDown' ? 1 : -1)];
  if (at === -1 || results.hidden || !to) return;
  event.preventDefault();
  to.focus();
}

form.hidden = false;

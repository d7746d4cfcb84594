// The field for a new password: its rules, and how hard it is to guess, by the measure of the service.

import { element, field } from '../site/elements.js';

/** The settings of the service are attributes of the page. */
const isStrict = document.body.dataset.passwordPolicy === 'strict';
const MIN_LENGTH = isStrict ? 8 : 6;
const RULES = isStrict
  ? 'At least 8 characters, and hard to guess: three or four words that do not belong together are good.'
  : 'At least 6 characters. Three or four words that do not belong together are hard to guess.';

/** By score. The service rejects scores below 3 if its policy is strict. */
const WORDS = [
  'Very easy to guess',
  'Easy to guess',
  'Can be guessed',
  'Hard to guess',
  'Very hard to guess',
];

/** In milliseconds: the score of a long password takes some time. */
const PAUSE = 150;
/** The service scores no more characters, either. */
const MAX_SCORED = 72;

/** Loaded when a new password is typed; again after a failure. */
let scorer;

function loaded() {
  scorer ??= loadScorer();
  scorer.catch(() => (scorer = undefined));
  return scorer;
}

async function loadScorer() {
  await Promise.all(['zxcvbn.js', 'zxcvbn-words.js'].map(loadScript));
  const { core, 'language-common': words } = globalThis.zxcvbnts;
  return new core.ZxcvbnFactory({ dictionary: words.dictionary, graphs: words.adjacencyGraphs });
}

const loadScript = (name) =>
  new Promise((resolve, reject) => {
    const src = new URL(`vendor/${name}`, import.meta.url).href;
    document.head.append(element('script', { src, onload: resolve, onerror: reject }));
  });

/**
 * @param properties of the input
 * @param hints returns what an attacker knows of the owner
 */
export function newPasswordField(label, properties, hints = () => []) {
  const made = field(label, {
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    hint: RULES,
    ...properties,
  });
  const input = made.querySelector('input');
  input.setAttribute('passwordrules', `minlength: ${MIN_LENGTH};`);
  const meter = element('meter', { min: 0, max: 4, low: 2, high: 3, optimum: 4, ariaLabel: 'Strength' });
  const word = element('span');
  const strength = element('p', { className: 'strength', hidden: true }, meter, word);
  strength.setAttribute('aria-live', 'polite');
  made.append(strength);
  let timer;
  input.addEventListener('focus', () => void loaded(), { once: true });
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void show(), PAUSE);
  });
  return made;

  async function show() {
    const { value } = input;
    strength.hidden = value === '';
    if (value === '') return;
    const isShort = [...value].length < MIN_LENGTH;
    const { score } = (await loaded()).check(value.slice(0, MAX_SCORED), hints());
    meter.value = isShort ? 0 : score;
    const text = isShort ? `Too short: at least ${MIN_LENGTH} characters` : WORDS[score];
    if (word.textContent !== text) word.textContent = text;
  }
}

// Builds elements. Texts are never parsed as HTML.

let lastId = 0;

/** @param properties of the element; functions are listeners */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

/** @param more.className `button plain` by default; `button` is for the main action of a page */
export const button = (text, onclick, more = {}) =>
  element('button', { type: 'button', className: 'button plain', textContent: text, onclick, ...more });

/** A labelled input, with a hint below it. */
export function field(label, { hint, ...properties }) {
  const id = properties.id ?? `field-${++lastId}`;
  const input = element('input', { id, ...properties });
  if (hint !== undefined) input.setAttribute('aria-describedby', `${id}-hint`);
  return element(
    'div',
    { className: 'field' },
    element('label', { htmlFor: id, textContent: label }),
    properties.type === 'password' ? withReveal(input) : input,
    hint === undefined ? undefined : element('small', { id: `${id}-hint`, textContent: hint }),
  );
}

/** An input for a password, with a button that shows what was typed. */
function withReveal(input) {
  const show = button('', () => {
    const isHidden = input.type === 'password';
    input.type = isHidden ? 'text' : 'password';
    label();
  });
  const label = () => {
    const word = input.type === 'password' ? 'Show' : 'Hide';
    show.replaceChildren(word, element('span', { className: 'visually-hidden', textContent: ' password' }));
  };
  label();
  return element('div', { className: 'with-button' }, input, show);
}

/** A labelled choice. */
export function choice(label, name, options) {
  const id = `field-${++lastId}`;
  const select = element('select', { id, name });
  for (const [value, text] of options) select.append(element('option', { value, textContent: text }));
  return element(
    'div',
    { className: 'field' },
    element('label', { htmlFor: id, textContent: label }),
    select,
  );
}

/** @param onsubmit called with the values of the fields by their names */
export function form(submit, fields, onsubmit) {
  const send = element('button', { type: 'submit', className: 'button', textContent: submit });
  const made = element('form', { className: 'form' }, ...fields, send);
  let isSending = false;
  made.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    // A `disabled` button would lose the focus.
    send.ariaDisabled = 'true';
    try {
      await onsubmit(Object.fromEntries(new FormData(made)));
    } finally {
      isSending = false;
      send.ariaDisabled = null;
    }
  });
  return made;
}

/** A part of the page, with a heading that names it for screen readers. */
export function section(title, ...children) {
  const id = `section-${++lastId}`;
  const made = element('section', {}, element('h2', { id, textContent: title, tabIndex: -1 }), ...children);
  made.setAttribute('aria-labelledby', id);
  return made;
}

/** A list whose entries have a description and one action. */
export function list(entries, none) {
  if (entries.length === 0) return element('p', { className: 'muted', textContent: none });
  return element(
    'ul',
    {},
    ...entries.map(({ text, action }) => element('li', {}, element('span', { textContent: text }), action)),
  );
}

export const date = (text) =>
  text === null ? 'never' : new Date(text).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });

// Builds elements. Texts are never parsed as HTML.

let lastId = 0;

/** @param properties of the element; functions are listeners */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

export const button = (text, onclick, more = {}) =>
  element('button', { type: 'button', textContent: text, onclick, ...more });

/** A labelled input. */
export function field(label, properties) {
  const id = `field-${++lastId}`;
  return [element('label', { htmlFor: id, textContent: label }), element('input', { id, ...properties })];
}

/** A labelled choice. */
export function choice(label, name, options) {
  const id = `field-${++lastId}`;
  const select = element('select', { id, name });
  for (const [value, text] of options) select.append(element('option', { value, textContent: text }));
  return [element('label', { htmlFor: id, textContent: label }), select];
}

/** @param onsubmit called with the values of the fields by their names */
export function form(submit, fields, onsubmit) {
  const send = element('button', { type: 'submit', textContent: submit });
  const made = element('form', {}, ...fields, send);
  made.addEventListener('submit', async (event) => {
    event.preventDefault();
    send.disabled = true;
    await onsubmit(Object.fromEntries(new FormData(made)));
    send.disabled = false;
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
  if (entries.length === 0) return element('p', { textContent: none });
  return element(
    'ul',
    {},
    ...entries.map(({ text, action }) => element('li', {}, element('span', { textContent: text }), action)),
  );
}

export const date = (text) =>
  text === null ? 'never' : new Date(text).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });

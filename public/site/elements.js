// Builds elements. Texts are never parsed as HTML.

/** @param properties of the element; functions are listeners */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

/** @param more.className `button plain` by default; `button` is for the main action of a page */
export const button = (text, onclick, more = {}) =>
  element('button', { type: 'button', className: 'button plain', textContent: text, onclick, ...more });

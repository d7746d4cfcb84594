// Names and roles that screen readers need, and that a library leaves out of its page.

/**
 * Keeps the elements of a page repaired while its library changes them.
 *
 * @param root the element of the library
 * @param repairs by selector; each is called for every element that matches, and must not cause another match
 */
export function keepRepaired(root, repairs) {
  const repair = () => {
    for (const [selector, change] of Object.entries(repairs)) root.querySelectorAll(selector).forEach(change);
  };
  new MutationObserver(repair).observe(root, { childList: true, subtree: true, attributes: true });
  repair();
}

export const named = (name) => (element) => element.setAttribute('aria-label', name);

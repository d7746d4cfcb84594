/**
 * What the search of VitePress 1.6 lacks for screen readers: it has the role of a button, which has no content but its
 * name; its results are options, which must not contain links; and its keys have names without a role.
 */
export function repairSearch(): void {
  for (const box of document.querySelectorAll('.VPLocalSearchBox[role=button]')) {
    box.setAttribute('role', 'dialog');
    without(box, 'aria-expanded', 'aria-haspopup', 'aria-owns');
  }
  for (const list of document.querySelectorAll('.VPLocalSearchBox [role=listbox]')) without(list, 'role');
  for (const result of document.querySelectorAll('.VPLocalSearchBox li:is([role], [aria-selected])'))
    without(result, 'role', 'aria-selected');
  for (const key of document.querySelectorAll('.VPLocalSearchBox kbd:not([role])'))
    key.setAttribute('role', 'img');
}

const without = (element: Element, ...attributes: string[]): void =>
  attributes.forEach((name) => element.removeAttribute(name));

/** What it must see of the page. */
export const OBSERVED: MutationObserverInit = {
  childList: true,
  subtree: true,
  attributeFilter: ['role', 'aria-selected'],
};

/** Shows where the reader is in the list of pages, to screen readers, too. */
export function markCurrent(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('.VPSidebar a')) {
    if (link.pathname === location.pathname) {
      link.setAttribute('aria-current', 'page');
      link.scrollIntoView({ block: 'nearest' });
    } else link.removeAttribute('aria-current');
  }
}

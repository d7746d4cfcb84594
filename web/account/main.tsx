import { createRoot } from 'react-dom/client';
import { HashRouter } from 'react-router';
import { type Returned, takeReturned } from '../shared/login/social.js';
import { Providers } from '../shared/providers.js';
import { AccountPage } from './account-page.js';
import { takeLink } from './mail-links.js';

// Before the page has an address of its own: neither the history nor a copied address keeps a token.
const isLink = takeLink(location.hash);
const returned = takeReturned(new URLSearchParams(location.search));
if (isLink) history.replaceState(null, '', `${location.pathname}#/mail`);
else if (returned) history.replaceState(null, '', placeOf(returned));
else if (location.search !== '') history.replaceState(null, '', `${location.pathname}${location.hash}`);

// Another link is opened in the same tab. Before the router, which leaves an address that it does not know.
addEventListener('popstate', () => {
  if (!takeLink(location.hash)) return;
  history.replaceState(null, '', `${location.pathname}#/mail`);
  location.reload();
});

/** Where the login began; on another page of the service, this page leads there after the login. */
function placeOf({ place }: Returned): string {
  const { pathname, hash } = new URL(place, location.href);
  if (pathname === location.pathname) return `${pathname}${hash}`;
  return `${location.pathname}#/?to=${encodeURIComponent(`${pathname}${hash}`)}`;
}

createRoot(document.getElementById('app')!).render(
  <Providers>
    <HashRouter>
      <AccountPage returned={returned} />
    </HashRouter>
  </Providers>,
);

import { createRoot } from 'react-dom/client';
import { HashRouter } from 'react-router';
import { takeReturned } from '../shared/login/social.js';
import { Providers } from '../shared/providers.js';
import { AccountPage } from './account-page.js';
import { takeLink } from './mail-links.js';

// Before the page has an address of its own: neither the history nor a copied address keeps a token.
const isLink = takeLink(location.hash);
const returned = takeReturned(new URLSearchParams(location.search));
if (isLink) history.replaceState(null, '', `${location.pathname}#/mail`);
else if (returned) history.replaceState(null, '', new URL(returned.place, location.href));
else if (location.search !== '') history.replaceState(null, '', `${location.pathname}${location.hash}`);

// Another link is opened in the same tab.
addEventListener('hashchange', () => {
  if (takeLink(location.hash)) location.reload();
});

createRoot(document.getElementById('app')!).render(
  <Providers>
    <HashRouter>
      <AccountPage returned={returned} />
    </HashRouter>
  </Providers>,
);

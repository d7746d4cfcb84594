import { createRoot } from 'react-dom/client';
import { Providers } from '../shared/providers.js';
import { Console } from './console.js';

createRoot(document.getElementById('app')!).render(
  <Providers>
    <Console />
  </Providers>,
);

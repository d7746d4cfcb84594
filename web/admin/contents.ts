import { ListGuesser, type ResourceProps } from 'react-admin';
import { ACCOUNTS } from './accounts.js';
import { AUDIT } from './audit.js';
import type { ConsolePage } from './console-page.js';
import { EVENTS } from './events.js';
import { GuessedEdit } from './guessed-edit.js';
import { HEALTH } from './health.js';
import { ORDERS } from './orders.js';
import { POSTS } from './posts.js';
import { USERS } from './users.js';
import { WEBHOOKS } from './webhooks.js';

/**
 * Resources below `/v1/` whose pages react-admin guesses from their records, to begin with. `npm run make:module` adds its
 * module here. Replace the guess by pages of your own, as the others.
 */
const GUESSED: readonly string[] = [];

/** The resources in the order of the menu. */
export const RESOURCES: readonly ResourceProps[] = [
  WEBHOOKS,
  AUDIT,
  ACCOUNTS,
  POSTS,
  USERS,
  ORDERS,
  ...GUESSED.map((name) => ({ name, list: ListGuesser, edit: GuessedEdit })),
];

/** The other pages, below the resources. */
export const PAGES: readonly ConsolePage[] = [EVENTS, HEALTH];

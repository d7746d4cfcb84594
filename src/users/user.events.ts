import { defineEvents } from '../platform/changes/index.js';
import { UserView } from './user.view.js';

/** As in version 2 of users. */
export const USER_EVENTS = defineEvents({
  resource: 'user',
  collection: '/v2/users',
  changes: ['created', 'updated', 'deleted'],
  view: UserView,
});

import { defineEvents } from '../platform/changes/index.js';
import { User } from './user.entity.js';
import { UserView } from './user.view.js';

/** As in version 2 of users. */
export const USER_EVENTS = defineEvents({
  resource: 'user',
  collection: '/v2/users',
  changes: ['created', 'updated', 'deleted'],
  entity: User,
  view: UserView,
});

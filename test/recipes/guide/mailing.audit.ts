import type { AuditRoutes } from '../../support/further-routes.js';

export default {
  'POST /v1/mailings': 'puts a job into Redis, and stores nothing',
} satisfies AuditRoutes;

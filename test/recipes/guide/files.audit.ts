import type { AuditRoutes } from '../../support/further-routes.js';

/** It is not in the reference. */
export default {
  'POST /v1/files': (api, staff) => {
    const parts = ['--x', 'content-disposition: form-data; name="file"; filename="a"', '', 'A', '--x--', ''];
    const headers = { ...staff, 'content-type': 'multipart/form-data; boundary=x' };
    return api.send({ method: 'POST', url: '/v1/files', headers, payload: parts.join('\r\n') });
  },
} satisfies AuditRoutes;

// Loaded into a service with `node --import`: kills it between the commit of a sample and the response.
import { ServerResponse } from 'node:http';

const { value: writeHead } = Object.getOwnPropertyDescriptor(ServerResponse.prototype, 'writeHead');

ServerResponse.prototype.writeHead = function (status, ...rest) {
  const { method, url } = this.req;
  if (status === 201 && method === 'POST' && url.startsWith('/v1/samples'))
    process.kill(process.pid, 'SIGKILL');
  return writeHead.call(this, status, ...rest);
};

/** Puts what browsers load from other packages under `public/`, so that the service serves it by itself. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

const FILES = {
  'graphiql/graphiql.min.js': 'playground/vendor/graphiql.js',
  'graphiql/graphiql.min.css': 'playground/vendor/graphiql.css',
  'react/umd/react.production.min.js': 'playground/vendor/react.js',
  'react-dom/umd/react-dom.production.min.js': 'playground/vendor/react-dom.js',
  'swagger-ui-dist/swagger-ui-bundle.js': 'docs/vendor/swagger-ui.js',
  'swagger-ui-dist/swagger-ui.css': 'docs/vendor/swagger-ui.css',
};

for (const [from, to] of Object.entries(FILES)) {
  mkdirSync(dirname(`public/${to}`), { recursive: true });
  copyFileSync(`node_modules/${from}`, `public/${to}`);
}

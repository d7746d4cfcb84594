// Loaded into a service with `node --import`: kills it as soon as the first transaction is committed that has run a
// statement like `DIE_AT`, a regular expression.
import Database from 'better-sqlite3';
import pg from 'pg';

const fatal = new RegExp(process.env.DIE_AT, 'i');
const die = () => process.kill(process.pid, 'SIGKILL');

const { value: query } = Object.getOwnPropertyDescriptor(pg.Client.prototype, 'query');
pg.Client.prototype.query = function (config, ...rest) {
  if (fatal.test(config.text ?? config))
    this.connection.prependListener('commandComplete', ({ text }) => text === 'COMMIT' && die());
  return query.call(this, config, ...rest);
};

const { value: prepare } = Object.getOwnPropertyDescriptor(Database.prototype, 'prepare');
Database.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  const watch = (name, before, after) => {
    const run = statement[name];
    statement[name] = (...values) => {
      before();
      const result = run.apply(statement, values);
      after();
      return result;
    };
  };
  const note = () => {
    if (fatal.test(sql)) this.isFatal = true;
  };
  const check = () => {
    if (this.isFatal && sql === 'COMMIT') die();
  };
  for (const name of ['run', 'all', 'get']) watch(name, note, check);
  return statement;
};

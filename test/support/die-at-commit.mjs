// Loaded into a service with `node --import`: kills it as soon as the first transaction is committed that has run a
// statement like `DIE_AT`, a regular expression.
import Database from 'better-sqlite3';
import pg from 'pg';

const fatal = new RegExp(process.env.DIE_AT, 'i');
const die = () => process.kill(process.pid, 'SIGKILL');

const { query, _handleCommandComplete: complete } = pg.Client.prototype;
pg.Client.prototype.query = function (config, ...rest) {
  if (fatal.test(config.text ?? config)) this.isFatal = true;
  return query.call(this, config, ...rest);
};
pg.Client.prototype._handleCommandComplete = function (message) {
  if (this.isFatal && message.text === 'COMMIT') die();
  return complete.call(this, message);
};

const { prepare } = Database.prototype;
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

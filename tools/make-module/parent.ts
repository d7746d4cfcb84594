import { existsSync, globSync, readFileSync } from 'node:fs';
import { buildSchema } from 'graphql';
import { camel, parentWordsOf, pascal, singularOf } from './names.ts';
import { InputError } from './input-error.ts';

/** `--on-delete`: what deleting a parent does to its children. */
export const ON_DELETE = { cascade: 'CASCADE', restrict: 'RESTRICT' } as const;
export type OnDelete = keyof typeof ON_DELETE;

/**
 * Reads the template variables of a nested module's parent from the parent's files.
 *
 * @throws InputError for a module that cannot be a parent
 */
export function findParent(files: string, onDelete: OnDelete): Record<string, string> {
  const folder = `src/${files}`;
  const module = `${folder}/${files}.module.ts`;
  if (!/^[a-z-]+$/.test(files) || !existsSync(module)) {
    throw new InputError(`"${files}" cannot be the parent: there is no ${module}`);
  }
  const Service = `${pascal(files)}Service`;
  if (!new RegExp(`exports: \\[[^\\]]*\\b${Service}\\b`).test(readFileSync(module, 'utf8'))) {
    throw new InputError(`"${files}" cannot be the parent: ${module} does not export ${Service}`);
  }
  if (!pathsOf(folder).includes(files)) {
    throw new InputError(
      `"${files}" cannot be the parent: no controller in ${folder} has the path '${files}'`,
    );
  }
  const own = `${folder}/${singularOf(files)}.entity.ts`;
  const entity = existsSync(own) ? own : onlyFile(`${folder}/*.entity.ts`, files);
  const file = entity.slice(entity.lastIndexOf('/') + 1, -'.entity.ts'.length);
  const view = onlyFile(`${folder}/${file}.view.ts`, files);
  const table = /@Entity\('(\w+)'\)/.exec(readFileSync(entity, 'utf8'))?.[1];
  if (!table) throw new InputError(`"${files}" cannot be the parent: ${entity} does not name its table`);

  return {
    ...parentWordsOf({ files, file }),
    ...listOf(files),
    parentEntityFile: importPath(entity),
    parentViewFile: importPath(view),
    parentIdNumber: /\bid!: string/.test(readFileSync(view, 'utf8')) ? 'Number(id)' : 'id',
    parentTable: table,
    onDelete: ON_DELETE[onDelete],
    [onDelete]: 'yes',
  };
}

/** The paths of the controllers of a folder. */
const pathsOf = (folder: string): string[] =>
  globSync(`${folder}/*.controller.ts`).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/@Controller\(\{ path: '([^']+)'/g)].map(([, path]) => path!),
  );

function onlyFile(pattern: string, files: string): string {
  const [file, ...more] = globSync(pattern);
  if (!file || more.length > 0) {
    throw new InputError(`"${files}" cannot be the parent: ${pattern} must be one file`);
  }
  return file;
}

const importPath = (file: string): string => file.slice('src/'.length, -'.ts'.length);

/** The query of GraphQL that lists the parents, for the test of their children: a connection, or a list with `limit`. */
function listOf(files: string): Record<string, string> {
  const list = camel(files);
  const query = buildSchema(readFileSync('schema.gql', 'utf8')).getQueryType()?.getFields()[list];
  const isOpen = !globSync(`src/${files}/*.resolver.ts`).some((file) =>
    readFileSync(file, 'utf8').includes('@OwnerAccess()'),
  );
  const has = (argument: string) => query?.args.some(({ name }) => name === argument);
  if (isOpen && has('first'))
    return { listBefore: `${list}(first: 100) { nodes`, listAfter: ' }', listPath: `${list}.nodes` };
  if (isOpen && has('limit')) return { listBefore: `${list}(limit: 100)`, listAfter: '', listPath: list };
  throw new InputError(`"${files}" cannot be the parent: GraphQL does not list them to everyone`);
}

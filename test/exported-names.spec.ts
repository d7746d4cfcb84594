import { describe, expect, it } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';

const EXPORTED = /^export (?:abstract |async )*(?:class|const|function\*?|interface|type|enum) (\w+)/gm;
const PACKAGE = /^import .* from '(@nestjs\/[\w-]+|typeorm)';/gm;
const GLOBAL = /^(?:declare )?(?:interface|type|class|var) (\w+)/gm;

const first = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name]) => name!);
const readAll = (pattern: string) =>
  globSync(pattern).map((path) => [path, readFileSync(path, 'utf8')] as const);

const sources = readAll('src/**/*.ts').filter(([path]) => !path.endsWith('.spec.ts'));
const exported = sources.flatMap(([path, text]) =>
  first(text, EXPORTED).map((name) => ({ name, path, text })),
);

describe('exported names', () => {
  it('are unique', () => {
    const shared = [...Map.groupBy(exported, ({ name }) => name)].filter(([, places]) => places.length > 1);
    expect(shared.map(([name, places]) => `${name}: ${places.map(({ path }) => path).join(', ')}`)).toEqual(
      [],
    );
  });

  it('are not those of types of TypeScript, or of a package that the file uses', async () => {
    const libraries = readAll('node_modules/typescript/lib/lib.es*.d.ts');
    const globals = new Set(libraries.flatMap(([, text]) => first(text, GLOBAL)));
    const taken: string[] = [];
    for (const { name, path, text } of exported) {
      const modules = await Promise.all(first(text, PACKAGE).map((each) => import(each) as Promise<object>));
      if (globals.has(name) || modules.some((module) => name in module)) taken.push(`${name}: ${path}`);
    }
    expect(globals.size).toBeGreaterThan(100);
    expect(taken).toEqual([]);
  });
});

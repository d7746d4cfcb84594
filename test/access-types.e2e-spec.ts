import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

/** Handlers with these decorators may run without an account. */
const OPEN_DECORATORS = new Set(['Public', 'WriteAccess', 'OwnerAccess']);
const CLOSED_DECORATORS = new Set(['AccountsOnly', 'StaffOnly']);

const namesOf = (node: ts.HasDecorators): string[] =>
  (ts.getDecorators(node) ?? []).map(({ expression }) => {
    const called = ts.isCallExpression(expression) ? expression.expression : expression;
    return called.getText();
  });

const isOpen = (names: readonly string[]): boolean | undefined =>
  names.some((name) => CLOSED_DECORATORS.has(name))
    ? false
    : names.some((name) => OPEN_DECORATORS.has(name))
      ? true
      : undefined;

/** Parameters of open handlers whose type omits null, although the account may be null. */
function faultsOf(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const faults: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isMethodDeclaration(node) && ts.isClassDeclaration(node.parent)) {
      const open = isOpen(namesOf(node)) ?? isOpen(namesOf(node.parent)) ?? false;
      for (const parameter of node.parameters) {
        const isCaller = namesOf(parameter).some((name) => /^Current(Account|Principal)$/.test(name));
        if (open && isCaller && !/\|\s*null\b/.test(parameter.type?.getText() ?? '')) {
          faults.push(`${file}: ${node.name.getText()}(${parameter.getText()}) may be null`);
        }
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return faults;
}

describe('the type of the calling account', () => {
  it('includes null wherever the handler is open', () => {
    const files = globSync('{src,test}/**/*.{controller,resolver,gateway,module}.ts');

    expect(files.flatMap((file) => faultsOf(file, readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('is reported where it omits null', () => {
    const handler = (decorators: string, type: string) =>
      `@Controller() ${decorators} class A { @Get() read(@CurrentAccount() account: ${type}) {} }`;

    expect(faultsOf('a.ts', handler('@WriteAccess()', 'Account'))).toHaveLength(1);
    expect(faultsOf('a.ts', handler('@WriteAccess()', 'Account | null'))).toEqual([]);
    expect(faultsOf('a.ts', handler('', 'Account'))).toEqual([]);
    expect(faultsOf('a.ts', handler('@StaffOnly()', 'Account'))).toEqual([]);
  });
});

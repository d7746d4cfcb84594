import { createHash } from 'node:crypto';
import ts from 'typescript';

/** A place where the source may be wrong: `text` with `isPlanted(n)` in it, which is true while the fault is planted. */
export interface Fault {
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  /** Names it in results, as long as nothing before it in its file changes. */
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly text: (n: number) => string;
  /** Whether it is decided when the module is loaded. */
  readonly isStatic: boolean;
}

const FLIPPED: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
]);
const GUARDS = /^@(\w+Access|\w+Only|UseGuards)\b/;
/** One condition of SQL, up to the next part of the statement. */
const CONDITION = / AND (?:(?! AND | OR |\bORDER\b|\bLIMIT\b|\bGROUP\b|\bRETURNING\b|[`'"\n)$]).)+/;

/** All faults that can be planted in a file. */
export function faultsIn(file: string, source: string): Fault[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const faults: Fault[] = [];
  const add = (kind: string, from: ts.Node, to: ts.Node, text: Fault['text'], isStatic = false) => {
    const [start, end] = [from.getStart(tree), to.getEnd()];
    const key = createHash('sha1')
      .update(`${file} ${kind} ${source.slice(0, end)}`)
      .digest('hex');
    const line = tree.getLineAndCharacterOfPosition(start).line + 1;
    faults.push({ file, line, kind, key, start, end, text, isStatic });
  };
  const visit = (node: ts.Node, isInFunction: boolean): void => {
    if (ts.isDecorator(node) && GUARDS.test(node.getText(tree)))
      add(
        'guard removed',
        node,
        node,
        (n) => `@(isPlanted(${n}) ? () => undefined : ${node.expression.getText(tree)})`,
        true,
      );
    if (isInFunction) plantIn(node, tree, add);
    const isBody = ts.isFunctionLike(node);
    ts.forEachChild(node, (child) => visit(child, isInFunction || (isBody && !ts.isDecorator(child))));
  };
  visit(tree, false);
  return faults;
}

type Add = (kind: string, from: ts.Node, to: ts.Node, text: Fault['text']) => void;

function plantIn(node: ts.Node, tree: ts.SourceFile, add: Add): void {
  const text = node.getText(tree);
  const either = (wrong: string) => (n: number) => `(isPlanted(${n}) ? ${wrong} : ${text})`;
  if (ts.isIfStatement(node) && !node.elseStatement && throws(node.thenStatement))
    add(
      'check ignored',
      node.expression,
      node.expression,
      (n) => `!isPlanted(${n}) && (${node.expression.getText(tree)})`,
    );
  const condition = ts.isIfStatement(node)
    ? node.expression
    : ts.isConditionalExpression(node)
      ? node.condition
      : undefined;
  if (condition) {
    const inner = condition.getText(tree);
    add('condition negated', condition, condition, (n) => `(isPlanted(${n}) ? !(${inner}) : (${inner}))`);
  }
  if (ts.isBinaryExpression(node)) {
    const flipped = FLIPPED.get(node.operatorToken.kind);
    if (flipped !== undefined)
      add(
        'boundary moved',
        node,
        node,
        either(`${node.left.getText(tree)} ${flipped} ${node.right.getText(tree)}`),
      );
  }
  if (ts.isAwaitExpression(node))
    add('await dropped', node, node, either(`(${node.expression.getText(tree)})`));
  if (
    ts.isPropertyAssignment(node) &&
    node.name.getText(tree) === 'where' &&
    ts.isObjectLiteralExpression(node.initializer)
  ) {
    const where = node.initializer;
    if (where.properties.length > 0)
      add('WHERE ignored', where, where, (n) => `(isPlanted(${n}) ? {} : ${where.getText(tree)})`);
  }
  if ((ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) && CONDITION.test(text))
    add('WHERE ignored', node, node, either(text.replace(CONDITION, '')));
  if (ts.isExpressionStatement(node) && /^(await )?[\w.]+\.record\w*\(/.test(text))
    add('event not written', node, node, (n) => `if (!isPlanted(${n})) ${text}`);
  if (ts.isNewExpression(node) && node.expression.getText(tree) === 'AppError') {
    const code = node.arguments?.[0];
    if (code && ts.isStringLiteral(code)) {
      const wrong = code.text === 'CONFLICT' ? 'NOT_FOUND' : 'CONFLICT';
      add('code exchanged', code, code, (n) => `(isPlanted(${n}) ? '${wrong}' : '${code.text}')`);
    }
  }
  if (ts.isBlock(node)) {
    for (const [n, second] of node.statements.entries()) {
      const first = node.statements[n - 1];
      if (!first || !ts.isExpressionStatement(first) || !ts.isExpressionStatement(second)) continue;
      const [a, b] = [first.getText(tree), second.getText(tree)];
      add('order exchanged', first, second, (id) => `if (isPlanted(${id})) { ${b} ${a} } else { ${a} ${b} }`);
    }
  }
}

function throws(statement: ts.Statement): boolean {
  const only =
    ts.isBlock(statement) && statement.statements.length === 1 ? statement.statements[0]! : statement;
  return ts.isThrowStatement(only);
}

/** Chooses faults that do not overlap, as many of each kind and from all files. The choice is the same in each run. */
export function choose(all: readonly Fault[], count: number): Fault[] {
  const kinds = Map.groupBy(
    all.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    ({ kind }) => kind,
  );
  const chosen: Fault[] = [];
  const overlaps = (a: Fault) => chosen.some((b) => a.file === b.file && a.start < b.end && b.start < a.end);
  while (chosen.length < count && kinds.size > 0) {
    for (const [kind, faults] of kinds) {
      const next = faults.findIndex((fault) => !overlaps(fault));
      if (next === -1) kinds.delete(kind);
      else if (chosen.length < count) chosen.push(...faults.splice(next, 1));
    }
  }
  return chosen;
}

/** The source with faults, of which none is planted yet. @param numbers the number of each fault */
export function plant(source: string, faults: readonly Fault[], numbers: ReadonlyMap<Fault, number>): string {
  return faults
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (text, fault) => text.slice(0, fault.start) + fault.text(numbers.get(fault)!) + text.slice(fault.end),
      source,
    );
}

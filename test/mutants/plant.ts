import ts from 'typescript';

/** A fault of faults.json. */
export interface Fault {
  /** The promise that it breaks, with its section of the contract. */
  readonly breaks: string;
  /** Occurs once in the sources. */
  readonly text: string;
  /** Replaces it; may be empty. */
  readonly becomes: string;
  /** The test file that fails with it. */
  noticedBy?: string;
  /** Why nobody can notice it. */
  equivalent?: string;
}

/** Where a fault is planted: the smallest expression, statement, block or decorator that contains its text. */
export interface Place {
  readonly number: number;
  readonly start: number;
  readonly end: number;
  readonly kind: 'expression' | 'statement' | 'block' | 'decorator';
  /** The text from `start` to `end` with the fault. */
  readonly wrong: string;
  /** Whether it is decided when the module is loaded. */
  readonly isStatic: boolean;
}

/** @throws Error if the fault has no place that can be replaced */
export function placeOf(source: string, { text, becomes }: Fault, number: number): Place {
  const { from, to, inserted } = difference(source.indexOf(text), text, becomes);
  const tree = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const isOutside = (node: ts.Node) => node.getStart(tree) <= from && to <= node.getEnd();
  let node: ts.Node = tree;
  for (let inner: ts.Node | undefined = tree; inner;) {
    node = inner;
    inner = node.getChildren(tree).find(isOutside);
  }
  const wrongOf = ({ end }: ts.Node, start: number) =>
    source.slice(start, from) + inserted + source.slice(to, end);
  let kind = kindOf(node);
  // An expression cannot be left out by itself.
  while (
    node.parent &&
    (!kind || (kind === 'expression' && wrongOf(node, node.getStart(tree)).trim() === ''))
  ) {
    node = node.parent;
    kind = kindOf(node);
  }
  if (!kind) throw new Error(`No expression, statement or block contains: ${text}`);
  const [start, end] = [node.getStart(tree), node.getEnd()];
  const wrong = wrongOf(node, start);
  return { number, start, end, kind, wrong, isStatic: !isInFunction(node) };
}

/** What differs between a text at a position and the other one, without space around what is left out. */
function difference(
  position: number,
  text: string,
  other: string,
): { from: number; to: number; inserted: string } {
  const most = Math.min(text.length, other.length);
  let start = 0;
  while (start < most && text[start] === other[start]) start++;
  let end = 0;
  while (end < most - start && text.at(-1 - end) === other.at(-1 - end)) end++;
  const inserted = other.slice(start, other.length - end);
  // `@A() @B()` without `@A()`: what is left out begins at a word, not within two that begin alike.
  const isSame = () => text[start - 1] === text[text.length - end - 1];
  if (inserted === '') {
    while (start > 0 && !/\s/.test(text[start]!) && isSame()) {
      start--;
      end++;
    }
  }
  const removed = text.slice(start, text.length - end);
  const from = position + start + (inserted === '' ? removed.length - removed.trimStart().length : 0);
  const length = inserted === '' ? removed.trim().length : removed.length;
  return { from, to: from + length, inserted };
}

/** The source with faults, of which none is planted yet: `isPlanted(n)` is true while one is. */
export function plant(source: string, places: readonly Place[], start = 0, end = source.length): string {
  let text = '';
  let position = start;
  const outermost = places
    .toSorted((a, b) => a.start - b.start || b.end - a.end || a.number - b.number)
    .filter((place, n, all) => !all.slice(0, n).some((outer) => place.end <= outer.end));
  for (const place of outermost) {
    const within = places.filter(
      (other) => other !== place && place.start <= other.start && other.end <= place.end,
    );
    text +=
      source.slice(position, place.start) + either(place, plant(source, within, place.start, place.end));
    position = place.end;
  }
  return text + source.slice(position, end);
}

function either({ kind, number, wrong }: Place, right: string): string {
  const condition = `isPlanted(${number})`;
  if (kind === 'expression') return `(${condition} ? (${wrong}) : (${right}))`;
  if (kind === 'decorator')
    return `@(${condition} ? ${wrong.slice(1) || '() => undefined'} : ${right.slice(1)})`;
  if (kind === 'statement') return `if (${condition}) { ${wrong} } else { ${right} }`;
  return `{ if (${condition}) ${wrong} else ${right} }`;
}

function kindOf(node: ts.Node): Place['kind'] | undefined {
  if (ts.isDecorator(node)) return 'decorator';
  if (ts.isBlock(node)) return 'block';
  const isDeclaration = ts.isVariableStatement(node) || ts.isFunctionDeclaration(node);
  if (ts.isStatement(node) && !isDeclaration && !ts.isClassDeclaration(node)) {
    const { parent } = node;
    if (ts.isBlock(parent) || ts.isIfStatement(parent) || ts.isCaseClause(parent)) return 'statement';
  }
  return isValue(node) ? 'expression' : undefined;
}

const ASSIGNMENTS = [ts.SyntaxKind.FirstAssignment, ts.SyntaxKind.LastAssignment] as const;

/** Whether the node is an expression that another one may replace. */
function isValue(node: ts.Node): boolean {
  const { parent } = node;
  if (!parent || !ts.isExpression(node) || ts.isSpreadElement(node)) return false;
  if (ts.isBinaryExpression(parent)) {
    const operator = parent.operatorToken.kind;
    return node === parent.right || operator < ASSIGNMENTS[0] || operator > ASSIGNMENTS[1];
  }
  if (ts.isCallExpression(parent) || ts.isNewExpression(parent))
    return node !== parent.expression && !ts.isDecorator(parent);
  if (ts.isPropertyAssignment(parent) || ts.isVariableDeclaration(parent) || ts.isPropertyDeclaration(parent))
    return node === parent.initializer;
  if (ts.isParameter(parent)) return node === parent.initializer;
  if (ts.isArrowFunction(parent)) return node === parent.body;
  if (ts.isPrefixUnaryExpression(parent))
    return ![ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken].includes(parent.operator);
  return (
    ts.isReturnStatement(parent) ||
    ts.isThrowStatement(parent) ||
    ts.isConditionalExpression(parent) ||
    ts.isParenthesizedExpression(parent) ||
    ts.isAwaitExpression(parent) ||
    ts.isTemplateSpan(parent) ||
    ts.isIfStatement(parent) ||
    ts.isWhileStatement(parent) ||
    ts.isArrayLiteralExpression(parent) ||
    ts.isSpreadElement(parent) ||
    ts.isSpreadAssignment(parent) ||
    ts.isYieldExpression(parent) ||
    (ts.isForOfStatement(parent) && node === parent.expression)
  );
}

/** Whether the node runs after its module was loaded: in a function, or in a field of an instance. */
function isInFunction(node: ts.Node): boolean {
  for (let each = node; each.parent; each = each.parent) {
    if (ts.isDecorator(each)) return false;
    const { parent } = each;
    if (ts.isFunctionLike(parent) && 'body' in parent && parent.body === each) return true;
    const isStaticField =
      ts.isPropertyDeclaration(parent) &&
      parent.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword);
    if (ts.isPropertyDeclaration(parent) && parent.initializer === each && !isStaticField) return true;
  }
  return false;
}

import ts from 'typescript';

/** What a removed module leaves of a file. */
export interface Rest {
  readonly text: string;
  /** Lines that use the module, and cannot go without a person. */
  readonly uses: readonly string[];
  /** The names of the tests that are gone. */
  readonly tests: readonly string[];
}

export interface Names {
  /** Whether an import is gone. */
  isImport(path: string): boolean;
  /** Whether a text can only mean the module; in a list, a name alone does. */
  isMention(text: string, isListed: boolean): boolean;
  /** Whether a property can only mean the module. */
  isProperty(name: string, value: string): boolean;
}

/** What goes as a whole; `rest` takes its place. */
interface Unit {
  readonly node: ts.Node;
  readonly rest?: ts.Node;
}

/**
 * Removes from code what it imports of a module, and the elements, properties, decorators and statements that use it or
 * name the module; then what only these have used, and tests without an expectation.
 *
 * @param isTest whether statements inside of functions may go
 */
export function withoutModule(file: string, text: string, names: Names, isTest: boolean): Rest {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const gone = new Set<ts.Node>();
  const replaced = new Map<ts.Node, ts.Node>();
  const [uses, tests]: [string[], string[]] = [[], []];

  const isGone = (node: ts.Node): boolean => {
    for (let each = node; !ts.isSourceFile(each); each = each.parent) {
      const rest = replaced.get(each);
      if (gone.has(each) || (rest !== undefined && !isIn(node, rest))) return true;
    }
    return false;
  };
  const remove = (start: ts.Node, isName = false): void => {
    if (isGone(start)) return;
    const unit = unitOf(start, isName, isTest);
    if (unit === undefined || (!isTest && isInside(unit))) {
      const { line } = source.getLineAndCharacterOfPosition(start.getStart());
      uses.push(text.split('\n')[line]!.trim().slice(0, 100));
      return;
    }
    removeUnit(unit);
  };
  const removeUnit = ({ node, rest }: Unit): void => {
    if (rest) replaced.set(node, rest);
    else gone.add(node);
    for (const each of usesOf(node)) remove(each);
    const list = node.parent;
    if (isTest && ts.isArrayLiteralExpression(list) && list.elements.every(isGone)) remove(list);
  };
  const isUnused = (nodes: readonly ts.Node[]) => nodes.length > 0 && nodes.every(isGone);

  const find = (node: ts.Node): void => {
    const path = pathOf(node);
    if (path !== undefined && names.isImport(path)) return remove(node);
    if (ts.isImportDeclaration(node)) return;
    const isListed = node.parent && (ts.isArrayLiteralExpression(node.parent) || isLink(node.parent));
    if (names.isMention(textOf(node) ?? '', isListed)) return remove(node);
    if (ts.isPropertyAssignment(node) && names.isProperty(node.name.getText(), node.initializer.getText()))
      return remove(node.name, true);
    ts.forEachChild(node, find);
  };
  find(source);
  if (gone.size === 0 && replaced.size === 0) return { text, uses, tests };

  const clear = (node: ts.Node): void => {
    ts.forEachChild(node, clear);
    if (isGone(node)) return;
    if (ts.isImportDeclaration(node) && namesOf(node).length > 0) {
      const unused = namesOf(node).filter((name) => isUnused(referencesTo(name.text, source)));
      if (unused.length === namesOf(node).length) gone.add(node);
      else for (const name of unused) gone.add(name.parent);
    } else if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
      const scope = ts.findAncestor(node, (each) => ts.isBlock(each) || ts.isFunctionLike(each)) ?? source;
      if (ts.isIdentifier(node.name) && isUnused(referencesTo(node.name.text, scope))) gone.add(node);
    } else if (
      isLocal(node) &&
      namesOf(node).every((name) => isUnused(referencesTo(name.text, node.parent)))
    ) {
      removeUnit({ node });
    } else if (ts.isExpressionStatement(node) && isTestCall(node) && has(node, isGone)) {
      if (has(node, isExpectation) && !has(node, (each) => isExpectation(each) && !isGone(each)))
        gone.add(node);
    }
  };
  for (let size = -1; size !== gone.size;) {
    size = gone.size;
    clear(source);
  }
  const report = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node) && isTestCall(node) && isGone(node)) tests.push(titleOf(node));
    ts.forEachChild(node, report);
  };
  report(source);
  return { text: without(text, gone, replaced), uses, tests };
}

/** The text without what neither its own file nor another one uses: declarations that are not exported, and imports. */
export function withoutUnused(file: string, text: string): string {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const gone = new Set<ts.Node>();
  const isUsed = (name: ts.Identifier, by: ts.Node) =>
    referencesTo(name.text, source).some(
      (each) => !isIn(each, by) && ![...gone].some((of) => isIn(each, of)),
    );
  for (let size = -1; size !== gone.size;) {
    size = gone.size;
    for (const node of source.statements) {
      const names = namesOf(node).filter((name) => !isUsed(name, node));
      if (names.length === 0 || !(isLocal(node) || ts.isImportDeclaration(node))) continue;
      if (names.length === namesOf(node).length) gone.add(node);
      else if (ts.isImportDeclaration(node)) for (const name of names) gone.add(name.parent);
    }
  }
  return without(text, gone, new Map());
}

/** The lines, from 0, that import something or use what they import. */
export function linesUsing(file: string, text: string, isImport: (path: string) => boolean): Set<number> {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const imports = collect(source, (node) => isImport(pathOf(node) ?? ''));
  const uses = imports.flatMap((node) => namesOf(node).flatMap((name) => referencesTo(name.text, source)));
  return new Set(
    [...imports, ...uses].map((node) => source.getLineAndCharacterOfPosition(node.getStart()).line),
  );
}

const has = (node: ts.Node, fits: (node: ts.Node) => boolean): boolean =>
  ts.forEachChild(node, (child) => fits(child) || has(child, fits)) ?? false;

/** The path that a declaration or call imports. */
function pathOf(node: ts.Node): string | undefined {
  const path =
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
      ? node.moduleSpecifier
      : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
        ? node.arguments[0]
        : undefined;
  return path && ts.isStringLiteral(path) ? path.text : undefined;
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  return ts.isTemplateExpression(node) ? node.getText().slice(1, -1) : undefined;
}

/** The smallest whole around a node that can go. */
function unitOf(start: ts.Node, isName: boolean, isTest: boolean): Unit | undefined {
  for (let node = start; !ts.isSourceFile(node); node = node.parent) {
    const { parent } = node;
    if (isTest && ts.isConditionalExpression(parent) && node !== parent.condition)
      return { node: parent, rest: node === parent.whenTrue ? parent.whenFalse : parent.whenTrue };
    if (isTest && ts.isIfStatement(parent) && node === parent.thenStatement && parent.elseStatement)
      return { node: parent, rest: parent.elseStatement };
    if (isLink(parent) && node !== parent.expression)
      return { node: parent, rest: parent.expression.expression };
    const isWhole =
      ts.isDecorator(node) ||
      ts.isClassElement(node) ||
      ts.isTypeElement(node) ||
      ts.isCaseClause(node) ||
      ts.isImportSpecifier(node) ||
      ts.isUnionTypeNode(parent) ||
      (ts.isParameter(node) && ts.isConstructorDeclaration(parent)) ||
      (ts.isArrayLiteralExpression(parent) && !isRow(parent)) ||
      (ts.isObjectLiteralElement(node) && isRecord(node, start, isName)) ||
      ts.isSourceFile(parent) ||
      ((ts.isBlock(parent) || ts.isCaseOrDefaultClause(parent)) && ts.isStatement(node));
    if (isWhole) return { node };
  }
  return undefined;
}

/** `.addTag(…)` of a builder. */
const isLink = (node: ts.Node): node is ts.CallExpression & { expression: ts.PropertyAccessExpression } =>
  ts.isCallExpression(node) &&
  ts.isPropertyAccessExpression(node.expression) &&
  /^add[A-Z]/.test(node.expression.name.text);

/** An array whose elements belong together: a row of a table, or what is destructured. */
function isRow(array: ts.ArrayLiteralExpression): boolean {
  let { parent } = array;
  while (ts.isConditionalExpression(parent)) parent = parent.parent;
  if (ts.isArrayLiteralExpression(parent)) return true;
  let node: ts.Node = array;
  while (ts.isExpression(node)) node = node.parent;
  return ts.isVariableDeclaration(node) && ts.isArrayBindingPattern(node.name);
}

/** Whether the object of a property is complete without it. */
function isRecord(node: ts.ObjectLiteralElement, start: ts.Node, isName: boolean): boolean {
  if (isName || (node.name !== undefined && isIn(start, node.name))) return true;
  const object = node.parent as ts.ObjectLiteralExpression;
  const { parent } = object;
  if (ts.isArrayLiteralExpression(parent)) return false;
  return ts.isIdentifier(start) ? object.properties.length > 1 : ts.isVariableDeclaration(parent);
}

const isIn = (node: ts.Node, whole: ts.Node): boolean => node.pos >= whole.pos && node.end <= whole.end;

/** Whether a unit is part of what a function does, or of what a class has. */
function isInside({ node, rest }: Unit): boolean {
  if (rest !== undefined) return !isLink(node);
  if (ts.isClassElement(node)) return true;
  return (
    ts.isStatement(node) && !ts.isSourceFile(node.parent) && !ts.isConstructorDeclaration(node.parent.parent)
  );
}

/** The names that a declaration has. */
function namesOf(node: ts.Node): ts.Identifier[] {
  const ofBinding = (name: ts.BindingName): ts.Identifier[] =>
    ts.isIdentifier(name)
      ? [name]
      : name.elements.flatMap((each) => (ts.isBindingElement(each) ? ofBinding(each.name) : []));
  if (ts.isImportDeclaration(node)) {
    const { name, namedBindings: bindings } = node.importClause ?? {};
    const all = !bindings ? [] : ts.isNamespaceImport(bindings) ? [bindings] : bindings.elements;
    return [...(name ? [name] : []), ...all.map((each) => each.name)];
  }
  if (ts.isVariableStatement(node))
    return node.declarationList.declarations.flatMap(({ name }) => ofBinding(name));
  if (ts.isParameter(node)) return ofBinding(node.name);
  const { name } = node as ts.Node & { name?: ts.Node };
  return name && ts.isIdentifier(name) ? [name] : [];
}

/** Whether a statement declares what other files do not see. */
const isLocal = (node: ts.Node): boolean =>
  (ts.isVariableStatement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isInterfaceDeclaration(node)) &&
  namesOf(node).length > 0 &&
  !ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/** What uses the names that a node declares: in its block, or as `this.name` in its class. */
function usesOf(node: ts.Node): ts.Node[] {
  const isMember =
    ts.isClassElement(node) || (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent));
  if (!isMember && !ts.isStatement(node)) return [];
  const scope = ts.isParameter(node) ? node.parent.parent : node.parent;
  return namesOf(node).flatMap((name) =>
    isMember ? membersOf(name.text, scope) : referencesTo(name.text, scope),
  );
}

function collect(node: ts.Node, fits: (node: ts.Node) => boolean): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (each: ts.Node): void => {
    if (fits(each)) found.push(each);
    ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
}

const membersOf = (name: string, scope: ts.Node): ts.Node[] =>
  collect(
    scope,
    (node) =>
      ts.isPropertyAccessExpression(node) &&
      node.name.text === name &&
      node.expression.kind === ts.SyntaxKind.ThisKeyword,
  );

const referencesTo = (name: string, scope: ts.Node): ts.Node[] =>
  collect(scope, (node) => ts.isIdentifier(node) && node.text === name && isReference(node));

/** Whether an identifier is not the name of a member or of a declaration. */
function isReference(node: ts.Identifier): boolean {
  const parent = node.parent as ts.Node & { name?: ts.Node; propertyName?: ts.Node; right?: ts.Node };
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isImportSpecifier(parent) || ts.isImportClause(parent)) return false;
  return (
    parent.name !== node &&
    parent.propertyName !== node &&
    !(ts.isQualifiedName(parent) && parent.right === node)
  );
}

const isExpectation = (node: ts.Node): boolean => ts.isIdentifier(node) && node.text.startsWith('expect');

/** `it(…)`, `it.each(…)(…)`, `describe(…)`. */
function isTestCall({ expression }: ts.ExpressionStatement): boolean {
  return (
    ts.isCallExpression(expression) &&
    /^\(?(\w+ \? )?(if\w+\()?(it|test|describe)\b/.test(expression.getText())
  );
}

const titleOf = ({ expression }: ts.ExpressionStatement): string =>
  textOf((expression as ts.CallExpression).arguments[0]!) ?? expression.getText().slice(0, 60);

/** The text without nodes, and without the commas and comments that belong to them. */
function without(text: string, gone: ReadonlySet<ts.Node>, replaced: ReadonlyMap<ts.Node, ts.Node>): string {
  const ranges = [...gone].map((node) => rangeOf(text, node));
  for (const [whole, rest] of replaced)
    ranges.push([whole.getStart(), rest.getStart()], [rest.end, whole.end]);
  let [result, end] = ['', 0];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (from > end) result += text.slice(end, from);
    end = Math.max(end, to);
  }
  return result + text.slice(end);
}

function rangeOf(text: string, node: ts.Node): [from: number, to: number] {
  const { parent } = node;
  if (ts.isDecorator(node)) return [node.getStart(), node.end + /^\s*/.exec(text.slice(node.end))![0].length];
  if (ts.isUnionTypeNode(parent)) {
    const [index, types] = [parent.types.indexOf(node as ts.TypeNode), parent.types];
    return index > 0 ? [types[index - 1]!.end, node.end] : [node.getStart(), types[1]!.getStart()];
  }
  // A comment at the end of the line before belongs to that line; one at the start of the file to the file.
  const line = text.indexOf('\n', node.pos);
  const start = node.pos === 0 || line < 0 || line > node.getStart() ? node.getStart() : line;
  return [start, node.end + (/^\s*,/.exec(text.slice(node.end))?.[0].length ?? 0)];
}

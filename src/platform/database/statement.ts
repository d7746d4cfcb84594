/** Values for the `:name` placeholders of a statement. */
export type StatementParameters = Readonly<Record<string, string | number | null>>;

/** A statement with the values of its placeholders. */
export interface Statement {
  readonly sql: string;
  readonly parameters: StatementParameters;
}

/**
 * The tokens of a statement: literals, quoted identifiers, comments and casts, whose colons are no
 * placeholders, and placeholders. `''` inside a literal matches as two literals in a row, with the same effect.
 */
const TOKEN = /'[^']*'|"[^"]*"|--[^\n]*|\/\*[^]*?\*\/|\$([a-z_]\w*)?\$[^]*?\$\1\$|::|:(?<name>[a-z_]\w*)/gi;

/** Replaces the `:name` placeholders of a statement. */
export function replacePlaceholders(sql: string, replace: (name: string) => string): string {
  return sql.replaceAll(TOKEN, (...match: unknown[]) => {
    const { name } = match.at(-1) as { name?: string };
    return name === undefined ? (match[0] as string) : replace(name);
  });
}

/** Values for the `:name` placeholders of a statement. */
export type Parameters = Readonly<Record<string, string | number | null>>;

/**
 * What a statement consists of: literals, quoted identifiers, comments and casts, in which a colon means
 * nothing, and placeholders. `''` inside a literal is two literals in a row, which comes to the same.
 */
const TOKEN = /'[^']*'|"[^"]*"|--[^\n]*|\/\*[^]*?\*\/|\$([a-z_]\w*)?\$[^]*?\$\1\$|::|:(?<name>[a-z_]\w*)/gi;

/** Replaces the `:name` placeholders of a statement, and nothing else. */
export function replacePlaceholders(sql: string, replace: (name: string) => string): string {
  return sql.replaceAll(TOKEN, (...match: unknown[]) => {
    const { name } = match.at(-1) as { name?: string };
    return name === undefined ? (match[0] as string) : replace(name);
  });
}

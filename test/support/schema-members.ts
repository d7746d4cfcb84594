import { readFileSync } from 'node:fs';
import { buildSchema, printType } from 'graphql';

const schema = buildSchema(readFileSync('schema.gql', 'utf8'));

/**
 * The members of a type, as the specification has them, that the schema lacks. Modules may add members.
 *
 * @param keyword `type`, `input` or `enum`
 * @param members the signatures by name: `{ name: ': String!' }`
 */
export function missingMembers(
  keyword: string,
  name: string,
  members: Readonly<Record<string, string>>,
): string[] {
  const types = new Set(Object.values(members).flatMap((signature) => signature.match(/\b[A-Z]\w+/g) ?? []));
  const others = [...types].filter((other) => other !== name && !BUILT_IN.has(other));
  const lines = Object.entries(members).map(([member, signature]) => `  ${member}${signature}`);
  const specified = buildSchema(
    `${keyword} ${name} {\n${lines.join('\n')}\n}
     ${others.map((other) => (other.endsWith('Input') ? `input ${other} { x: Int }` : `scalar ${other}`)).join('\n')}`,
  );
  const found = new Set(signatures(printType(schema.getType(name)!)));
  return signatures(printType(specified.getType(name)!)).filter((line) => !found.has(line));
}

const BUILT_IN = new Set(['ID', 'Int', 'Float', 'String', 'Boolean']);

/** The fields without their descriptions, and with their arguments sorted by name. */
function signatures(type: string): string[] {
  return type
    .replaceAll(/"""[^]*?"""/g, '')
    .replaceAll(/\(([^)]*)\)/g, (_, list: string) => {
      const parts = list.split(/[,\n]/).map((part) => part.trim());
      return `(${parts.filter(Boolean).toSorted().join(', ')})`;
    })
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

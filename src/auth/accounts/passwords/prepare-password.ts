/**
 * A password in the form in which it is hashed (RFC 8265, OpaqueString): the same password typed on two systems is the
 * same text. Other spaces become U+0020, and the text is composed (NFC).
 */
export const preparePassword = (password: string): string =>
  password.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC');

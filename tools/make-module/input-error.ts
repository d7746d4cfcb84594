/** Why nothing is made; printed without a stack. */
export class InputError extends Error {}

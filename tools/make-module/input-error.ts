/** The reason why nothing was created; printed without a stack. */
export class InputError extends Error {}

/** Why nothing is made; printed without a stack. */
export class Refusal extends Error {}

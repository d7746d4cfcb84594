import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** A password to score, and what an attacker knows of its owner. */
export interface Guess {
  readonly password: string;
  readonly hints: readonly string[];
}

const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });

export default ({ password, hints }: Guess): number => zxcvbn.check(password, [...hints]).score;

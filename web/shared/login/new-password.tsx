import { Box, LinearProgress, Typography } from '@mui/material';
import { type ReactNode, useEffect, useState } from 'react';
import { PasswordField } from '../form.js';
import { IS_STRICT } from '../settings.js';

const MIN_LENGTH = IS_STRICT ? 8 : 6;
const RULES = IS_STRICT
  ? 'At least 8 characters, and hard to guess: three or four words that do not belong together are good.'
  : 'At least 6 characters. Three or four words that do not belong together are hard to guess.';

/** By score. The service rejects scores below 3 if its policy is strict. */
const WORDS = [
  'Very easy to guess',
  'Easy to guess',
  'Can be guessed',
  'Hard to guess',
  'Very hard to guess',
];
const COLORS = ['error', 'error', 'warning', 'success', 'success'] as const;

/** In milliseconds: the score of a long password takes some time. */
const PAUSE = 150;
/** The service scores as many characters (`src/accounts/password/password-strength.ts`). */
const MAX_SCORED = 64;
/** Longer than any password whose strength is scored, in each form of its characters. */
const MAX_READ = 1000;

type Score = (password: string, hints: string[]) => number;

/** Loaded when a new password is typed: the word lists are large. */
async function loadScore(): Promise<Score> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  const scorer = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
  const scored = (text: string) => text.slice(0, MAX_SCORED);
  // The service also knows the first part of an address.
  const withParts = (hints: string[]) => hints.flatMap((hint) => [hint, ...hint.split('@', 1)]);
  return (password, hints) => scorer.check(scored(password), withParts(hints).map(scored)).score;
}

interface Props {
  readonly label?: string;
  readonly name?: string;
  /** Returns what an attacker knows of the owner. */
  readonly hints?: () => string[];
}

/** A new password: its rules, and how hard it is to guess, by the measure of the service. */
export function NewPasswordField({ label = 'Password', name = 'password', hints }: Props): ReactNode {
  const [value, setValue] = useState('');
  const [score, setScore] = useState<number>();
  // The service composes characters, too.
  const text = value.slice(0, MAX_READ).normalize('NFC');
  const isShort = Array.from(text).length < MIN_LENGTH;

  useEffect(() => {
    if (value === '') return undefined;
    const timer = setTimeout(() => void loadScore().then((of) => setScore(of(text, hints?.() ?? []))), PAUSE);
    return () => clearTimeout(timer);
    // The hints are read when the score is computed.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [value]);

  return (
    <div>
      <PasswordField
        label={label}
        name={name}
        autoComplete="new-password"
        helperText={RULES}
        value={value}
        onChange={({ target }) => setValue(target.value)}
      />
      <Box aria-live="polite" sx={{ minHeight: 28, pt: 0.5 }}>
        {value !== '' && score !== undefined && (
          <>
            <LinearProgress
              variant="determinate"
              aria-hidden
              value={isShort ? 5 : (score + 1) * 20}
              color={isShort ? 'error' : COLORS[score]!}
            />
            <Typography variant="caption">
              {isShort ? `Too short: at least ${MIN_LENGTH} characters` : WORDS[score]}
            </Typography>
          </>
        )}
      </Box>
    </div>
  );
}

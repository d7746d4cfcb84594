import { Button, Divider, Stack, Typography } from '@mui/material';
import Key from '@mui/icons-material/Key';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { api, ApiError, messageOf, read, type Schemas } from '../api.js';
import { CodeField, EmailField, Failure, Form, PasswordField } from '../form.js';
import { useSession } from '../session.js';
import { canSuggestPasskeys, getPasskey, wrongHost } from './passkeys.js';
import { SendAgain } from './send-again.js';
import { listProviders, nameOfProvider, startLogin } from './social.js';

type Step = { readonly mfa_token: string; readonly code_verifier?: string };
type Reply = Schemas['Session'] | Schemas['SecondStepRequired'];

/** Logs in: by password with a second step, by passkey, or at a provider. @param children more ways on, such as links */
export function LoginForm({
  first,
  children,
}: {
  first?: Step | undefined;
  children?: ReactNode;
}): ReactNode {
  const { begin } = useSession();
  const [step, setStep] = useState<Step | undefined>(first);
  const [failure, setFailure] = useState<string>();
  const [unverified, setUnverified] = useState<{ email: string; password: string }>();
  const { data: providers = [] } = useQuery({ queryKey: ['providers'], queryFn: listProviders });

  function finish(reply: Reply): void {
    if ('mfa_token' in reply) setStep({ mfa_token: reply.mfa_token });
    else begin(reply);
  }

  async function byPasskey(autofill?: AbortSignal): Promise<void> {
    try {
      const options = await read(api.POST('/auth/passkeys/login/options/'));
      const host = wrongHost(options);
      if (host !== undefined) {
        // Nobody has asked for a passkey yet.
        if (autofill) return;
        throw new ApiError(0, undefined, host);
      }
      const passkey = await getPasskey(options, autofill);
      if (passkey !== null) finish(await read(api.POST('/auth/session/', { body: { passkey } })));
      else if (!autofill) setFailure('No passkey was used.');
    } catch (error) {
      if (!autofill?.aborted) setFailure(messageOf(error));
    }
  }

  async function suggestPasskeys(left: AbortSignal): Promise<void> {
    const can = await canSuggestPasskeys();
    if (can && !left.aborted && step === undefined) await byPasskey(left);
  }

  const offer = useRef<AbortController>(undefined);
  const [offers, setOffers] = useState(0);
  useEffect(() => {
    offer.current = new AbortController();
    void suggestPasskeys(offer.current.signal);
    return () => offer.current?.abort();
    // One offer for each time that the form appears, and after each use of the button.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [step === undefined, offers]);

  async function choosePasskey(): Promise<void> {
    // A browser asks for one passkey at a time.
    offer.current?.abort();
    await byPasskey();
    setOffers((n) => n + 1);
  }

  if (step !== undefined) {
    return (
      <SecondStep
        step={step}
        finish={finish}
        expire={() => {
          setStep(undefined);
          setFailure('This login has expired. Log in again.');
        }}
      />
    );
  }
  return (
    <Stack spacing={2} sx={{ maxWidth: 440 }}>
      <Form
        submit="Log in"
        onSubmit={async ({ email = '', password = '' }) => {
          setFailure(undefined);
          setUnverified(undefined);
          try {
            finish(await read(api.POST('/auth/session/', { body: { email, password } })));
          } catch (error) {
            // The password was right.
            if (error instanceof ApiError && error.code === 'FORBIDDEN') setUnverified({ email, password });
            throw error;
          }
        }}
      >
        <EmailField autoComplete="username webauthn" autoFocus />
        <PasswordField />
      </Form>
      {unverified && <SendAgain {...unverified} />}
      {children}
      <Divider>or</Divider>
      <Button variant="outlined" startIcon={<Key />} onClick={() => void choosePasskey()}>
        Log in with a passkey
      </Button>
      {providers.map((provider) => (
        <Button key={provider.name} variant="outlined" onClick={() => void startLogin(provider)}>
          Continue with {nameOfProvider(provider.name)}
        </Button>
      ))}
      <Failure message={failure} />
    </Stack>
  );
}

interface SecondStepProps {
  readonly step: Step;
  readonly finish: (reply: Reply) => void;
  readonly expire: () => void;
}

function SecondStep({ step, finish, expire }: SecondStepProps): ReactNode {
  return (
    <Stack spacing={2}>
      <Typography>Enter a code of your authenticator app, or a recovery code.</Typography>
      <Form
        submit="Log in"
        onCancel={expire}
        onSubmit={async ({ code = '' }) => {
          try {
            finish(await read(api.POST('/auth/session/', { body: { ...step, code } })));
          } catch (error) {
            if (!(error instanceof ApiError && error.code === 'TOKEN_NOT_VALID')) throw error;
            expire();
          }
        }}
      >
        <CodeField autoFocus helperText={undefined} />
      </Form>
    </Stack>
  );
}

import { Box, Button, Skeleton, Stack, Typography } from '@mui/material';
import Download from '@mui/icons-material/Download';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import createQrCode from 'qrcode-generator';
import { type ReactNode, useState } from 'react';
import { api, messageOf, read, type Schemas } from '../../shared/api.js';
import { keepFocus, Secret, useCopy, useDialogs } from '../../shared/dialogs.js';
import { CodeField, Failure, Form } from '../../shared/form.js';
import { useRecently } from '../../shared/recently.js';
import { SERVICE } from '../../shared/settings.js';
import type { Section } from './section.js';

type Step =
  | { readonly name: 'set-up'; readonly setup: Schemas['TotpSetup'] }
  | { readonly name: 'codes'; readonly codes: readonly string[] }
  | { readonly name: 'new-codes' | 'turn-off' };

/** Two-step login, one step after the other. */
function TwoStepSection(): ReactNode {
  const recently = useRecently();
  const { say } = useDialogs();
  const client = useQueryClient();
  const [step, setStep] = useState<Step>();
  const { data: factors, error: failure } = useQuery({
    queryKey: ['factors'],
    queryFn: () => read(api.GET('/auth/mfa/')),
  });
  const refresh = () => client.invalidateQueries({ queryKey: ['factors'] });
  const close = () => {
    setStep(undefined);
    void refresh();
    keepFocus();
  };

  async function setUp(): Promise<void> {
    try {
      const setup = await recently((body) => read(api.POST('/auth/mfa/totp/', { body })));
      setStep({ name: 'set-up', setup });
    } catch (error) {
      say(messageOf(error), true);
    }
  }

  if (failure) return <Failure message={messageOf(failure)} />;
  if (factors === undefined) return <Skeleton height={60} />;
  if (step?.name === 'set-up')
    return <SetUp setup={step.setup} done={(codes) => setStep({ name: 'codes', codes })} cancel={close} />;
  if (step?.name === 'codes') return <RecoveryCodes codes={step.codes} close={close} />;
  if (!factors.data.totp) {
    return (
      <>
        <Typography sx={{ color: 'text.secondary', mb: 2 }}>
          It is off: your password alone can log in. With it, a login needs a code of an app on your phone,
          too.
        </Typography>
        <Button variant="contained" onClick={() => void setUp()}>
          Set up an authenticator app
        </Button>
      </>
    );
  }
  if (step?.name === 'new-codes') {
    return (
      <Form
        submit="Create codes"
        onCancel={close}
        onSubmit={async ({ code = '' }) => {
          const { recovery_codes: codes } = await recently((proof) =>
            read(api.POST('/auth/mfa/recovery-codes/', { body: { code, ...proof } })),
          );
          setStep({ name: 'codes', codes });
        }}
      >
        <Typography>The earlier recovery codes stop working.</Typography>
        <CodeField autoFocus helperText="Of your authenticator app" />
      </Form>
    );
  }
  if (step?.name === 'turn-off') {
    return (
      <Form
        submit="Turn off"
        isDangerous
        onCancel={close}
        onSubmit={async ({ code = '' }) => {
          await recently((proof) => read(api.DELETE('/auth/mfa/totp/', { body: { code, ...proof } })));
          close();
          say('Two-step login is off.');
        }}
      >
        <Typography>Afterwards, your password alone can log in.</Typography>
        <CodeField autoFocus />
      </Form>
    );
  }
  return (
    <>
      <Typography sx={{ color: 'text.secondary', mb: 2 }}>
        It is on. Recovery codes left: {factors.data.recovery_codes_left}.
      </Typography>
      <Stack direction="row" spacing={1} useFlexGap sx={{ flexWrap: 'wrap' }}>
        <Button variant="outlined" onClick={() => setStep({ name: 'new-codes' })}>
          Create new recovery codes
        </Button>
        <Button color="error" onClick={() => setStep({ name: 'turn-off' })}>
          Turn it off
        </Button>
      </Stack>
    </>
  );
}

interface SetUpProps {
  readonly setup: Schemas['TotpSetup'];
  readonly done: (codes: readonly string[]) => void;
  readonly cancel: () => void;
}

function SetUp({ setup: { secret, uri }, done, cancel }: SetUpProps): ReactNode {
  const qr = createQrCode(0, 'M');
  qr.addData(uri);
  qr.make();
  return (
    <Stack spacing={2}>
      <Typography>1. Scan this with your authenticator app, or enter the key there.</Typography>
      <Box
        component="img"
        src={qr.createDataURL(5, 20)}
        alt="QR code for an authenticator app"
        sx={{ width: 220, height: 220, imageRendering: 'pixelated', borderRadius: 1 }}
      />
      <Secret label="Key" value={secret} />
      <Typography>2. Enter the code that the app shows.</Typography>
      <Form
        submit="Turn on"
        onCancel={cancel}
        onSubmit={async ({ code = '' }) => {
          const { recovery_codes } = await read(api.POST('/auth/mfa/totp/confirm/', { body: { code } }));
          done(recovery_codes);
        }}
      >
        <CodeField autoFocus helperText={undefined} />
      </Form>
    </Stack>
  );
}

/** The codes are shown once, and the person says when they are stored. */
function RecoveryCodes({ codes, close }: { codes: readonly string[]; close: () => void }): ReactNode {
  const text = codes.join('\n');
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`;
  const copy = useCopy();
  return (
    <Stack spacing={2}>
      <Typography>
        3. Store these recovery codes in a safe place. Each of them replaces a code of the app, once. They are
        shown only now.
      </Typography>
      <Box
        component="pre"
        tabIndex={0}
        ref={(element: HTMLElement | null) => element?.focus()}
        sx={{
          m: 0,
          p: 2,
          bgcolor: 'action.hover',
          borderRadius: 1,
          columns: '30ch 2',
          maxWidth: '70ch',
        }}
      >
        {text}
      </Box>
      <Stack direction="row" spacing={1} useFlexGap sx={{ flexWrap: 'wrap' }}>
        <Button variant="outlined" onClick={() => void copy(text)}>
          Copy
        </Button>
        <Button
          variant="outlined"
          startIcon={<Download />}
          component="a"
          href={file}
          download={`${SERVICE} recovery codes.txt`}
        >
          Download
        </Button>
        <Button variant="contained" onClick={close}>
          I have stored them
        </Button>
      </Stack>
    </Stack>
  );
}

export const TWO_STEP: Section = { path: 'two-step', title: 'Two-step login', content: <TwoStepSection /> };

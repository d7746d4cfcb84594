import {
  Alert,
  Button,
  IconButton,
  InputAdornment,
  Stack,
  TextField,
  type TextFieldProps,
} from '@mui/material';
import Visibility from '@mui/icons-material/Visibility';
import VisibilityOff from '@mui/icons-material/VisibilityOff';
import { type ReactNode, useRef, useState } from 'react';
import { ApiError, messageOf } from './api.js';
import { keepFocus } from './dialogs.js';

interface FormProps {
  readonly children?: ReactNode;
  readonly submit: string;
  /** @param values by the names of the fields. What it throws is shown */
  readonly onSubmit: (values: Record<string, string>) => Promise<unknown>;
  readonly onCancel?: () => void;
  readonly isDangerous?: boolean;
}

/** Fields with one button, which sends them once, and the error beside the button. */
export function Form({ children, submit, onSubmit, onCancel, isDangerous = false }: FormProps): ReactNode {
  const [failure, setFailure] = useState<string>();
  const [isSending, setSending] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  async function send(): Promise<void> {
    if (isSending) return;
    setSending(true);
    setFailure(undefined);
    try {
      await onSubmit(Object.fromEntries(new FormData(form.current!)) as Record<string, string>);
      keepFocus();
    } catch (error) {
      setFailure(sentenceOf(error));
    } finally {
      setSending(false);
    }
  }

  return (
    <Stack
      component="form"
      ref={form}
      spacing={2}
      sx={{ width: '100%', maxWidth: 440 }}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {children}
      <Stack direction="row" spacing={1}>
        {/* A disabled button would lose the focus. */}
        <Button
          type="submit"
          variant="contained"
          aria-disabled={isSending}
          color={isDangerous ? 'error' : 'primary'}
        >
          {submit}
        </Button>
        {onCancel && (
          <Button
            onClick={() => {
              onCancel();
              keepFocus();
            }}
          >
            Cancel
          </Button>
        )}
      </Stack>
      <Failure message={failure} />
    </Stack>
  );
}

/** A sentence about what failed, read aloud when it appears. */
export const Failure = ({ message }: { message: string | undefined }): ReactNode => (
  <div role="alert">
    {message !== undefined && (
      <Alert severity="error" role="presentation">
        {message}
      </Alert>
    )}
  </div>
);

/** The message of an error, with the names of fields as people read them. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof ApiError) || error.details.length === 0) return messageOf(error);
  const texts = error.details.map(({ field, message }) => message.replace(field, field.replaceAll('_', ' ')));
  return texts.map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`).join(' ');
}

export const Field = (props: TextFieldProps): ReactNode => (
  <TextField size="small" fullWidth required slotProps={{ inputLabel: { required: false } }} {...props} />
);

export const EmailField = (props: TextFieldProps): ReactNode => (
  <Field label="E-mail" name="email" type="email" autoComplete="username" {...props} />
);

export const CodeField = (props: TextFieldProps): ReactNode => (
  <Field
    label="Code"
    name="code"
    autoComplete="one-time-code"
    helperText="Of your authenticator app, or a recovery code"
    {...props}
  />
);

/** A password, with a button that shows what was typed. */
export function PasswordField({ label = 'Password', ...props }: TextFieldProps): ReactNode {
  const [isShown, setShown] = useState(false);
  const button = (
    <InputAdornment position="end">
      <IconButton
        edge="end"
        size="small"
        aria-label={`${isShown ? 'Hide' : 'Show'} password`}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? <VisibilityOff fontSize="small" /> : <Visibility fontSize="small" />}
      </IconButton>
    </InputAdornment>
  );
  return (
    <Field
      label={label}
      name="password"
      autoComplete="current-password"
      type={isShown ? 'text' : 'password'}
      {...props}
      slotProps={{ inputLabel: { required: false }, input: { endAdornment: button } }}
    />
  );
}

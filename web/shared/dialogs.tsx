import {
  Alert,
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  Snackbar,
  Stack,
  TextField,
} from '@mui/material';
import ContentCopy from '@mui/icons-material/ContentCopy';
import { createContext, type ReactNode, use, useMemo, useState } from 'react';
import { messageOf } from './api.js';

interface Question {
  readonly title: string;
  /** What happens, and that it cannot be undone. */
  readonly text: string;
  /** What the button does, such as "Delete". */
  readonly action: string;
}

interface Dialogs {
  /** Asks before something that cannot be undone, does it, and says how it ended. */
  readonly ask: (question: Question, done: string, act: () => Promise<unknown>) => void;
  /** Does something, and says how it ended. */
  readonly run: (done: string, act: () => Promise<unknown>) => Promise<void>;
  readonly say: (text: string, isError?: boolean) => void;
}

const DialogsContext = createContext<Dialogs | undefined>(undefined);

interface Note {
  readonly text: string;
  readonly isError: boolean;
}

/** Questions before what cannot be undone, and notes about what was done. */
export function DialogsProvider({ children }: { children: ReactNode }): ReactNode {
  const [asked, setAsked] = useState<Question & { go: () => void }>();
  const [note, setNote] = useState<Note>();
  const dialogs = useMemo<Dialogs>(() => {
    const say = (text: string, isError = false) => setNote({ text, isError });
    const run = async (done: string, act: () => Promise<unknown>) => {
      try {
        await act();
        say(done);
        keepFocus();
      } catch (error) {
        say(messageOf(error), true);
      }
    };
    return {
      run,
      say,
      ask: (question, done, act) => setAsked({ ...question, go: () => void run(done, act) }),
    };
  }, []);
  const close = () => setAsked(undefined);

  return (
    <DialogsContext value={dialogs}>
      {children}
      <Dialog open={asked !== undefined} onClose={close} aria-labelledby="question-title">
        <DialogTitle id="question-title">{asked?.title}</DialogTitle>
        <DialogContent>
          <DialogContentText>{asked?.text}</DialogContentText>
        </DialogContent>
        <DialogActions>
          <Button onClick={close} autoFocus>
            Cancel
          </Button>
          <Button
            color="error"
            variant="contained"
            onClick={() => {
              close();
              asked?.go();
            }}
          >
            {asked?.action}
          </Button>
        </DialogActions>
      </Dialog>
      <Snackbar
        open={note !== undefined}
        onClose={(_, reason) => reason !== 'clickaway' && setNote(undefined)}
        autoHideDuration={note?.isError ? null : 6000}
        anchorOrigin={{ vertical: 'bottom', horizontal: 'center' }}
      >
        <Alert severity={note?.isError ? 'error' : 'success'} onClose={() => setNote(undefined)}>
          {note?.text}
        </Alert>
      </Snackbar>
    </DialogsContext>
  );
}

export function useDialogs(): Dialogs {
  const dialogs = use(DialogsContext);
  if (dialogs === undefined) throw new Error('There is no DialogsProvider');
  return dialogs;
}

/** How long the button that asked may take to disappear, in milliseconds. */
const DISAPPEARANCE = 1000;

/** If what had the focus disappears, the keyboard goes on at the heading. */
export function keepFocus(end = performance.now() + DISAPPEARANCE): void {
  requestAnimationFrame((now) => {
    if (document.activeElement === document.body)
      document.querySelector<HTMLElement>('h2[tabindex], h1[tabindex], #main-content[tabindex]')?.focus();
    else if (now < end) keepFocus(end);
  });
}

/** Copies a text. Browsers allow it only over HTTPS and on this machine. */
export function useCopy(): (text: string) => Promise<void> {
  const { say } = useDialogs();
  return async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied.');
    } catch {
      say('The browser does not allow copying here. Select the text, and copy it.', true);
    }
  };
}

interface SecretProps {
  readonly label: string;
  readonly value: string;
  /** Whether the keyboard goes on here, because what asked for it disappears. */
  readonly autoFocus?: boolean;
}

/** A text that is shown once, with a button that copies it. */
export function Secret({ label, value, autoFocus = false }: SecretProps): ReactNode {
  const copy = useCopy();
  return (
    <Stack direction="row" spacing={1} sx={{ maxWidth: 640, pt: 1.5, alignItems: 'center' }}>
      <TextField
        size="small"
        fullWidth
        label={label}
        value={value}
        autoFocus={autoFocus}
        slotProps={{ htmlInput: { readOnly: true, style: { fontFamily: 'monospace' } } }}
        onFocus={({ target }) => target.select()}
      />
      <Button startIcon={<ContentCopy />} onClick={() => void copy(value)}>
        Copy
      </Button>
    </Stack>
  );
}

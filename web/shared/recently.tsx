import {
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  Stack,
} from '@mui/material';
import { createContext, type ReactNode, use, useCallback, useState } from 'react';
import { api, ApiError, messageOf, read } from './api.js';
import { useDialogs } from './dialogs.js';
import { CodeField, PasswordField } from './form.js';
import { useSession } from './session.js';

/** The password, and a code while two-step login is on, for a call that needs a recent login. */
interface Proof {
  readonly password?: string;
  readonly code?: string;
}

type Recently = <Result>(call: (proof: Proof) => Promise<Result>) => Promise<Result>;

const RecentlyContext = createContext<Recently | undefined>(undefined);

interface Question {
  readonly needsCode: boolean;
  readonly answer: (proof: Proof | null) => void;
}

/** Whether a call needs a login of the last 5 minutes. */
export const isTooOld = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 403 && error.message.includes('5 minutes');

/** Asks for the password, and for a code if there is a second factor, when a call needs a login of the last 5 minutes. */
export function RecentlyProvider({ children }: { children: ReactNode }): ReactNode {
  const [question, setQuestion] = useState<Question>();

  const recently = useCallback<Recently>(async (call) => {
    try {
      return await call({});
    } catch (error) {
      if (!isTooOld(error)) throw error;
      const { data } = await read(api.GET('/auth/mfa/'));
      const proof = await new Promise<Proof | null>((answer) =>
        setQuestion((earlier) => {
          earlier?.answer(null);
          return { needsCode: data.totp, answer };
        }),
      );
      setQuestion(undefined);
      if (proof === null) throw new ApiError(0, undefined, 'Nothing was changed.');
      return call(proof);
    }
  }, []);

  return (
    <RecentlyContext value={recently}>
      {children}
      {question && <Confirmation {...question} />}
    </RecentlyContext>
  );
}

function Confirmation({ needsCode, answer }: Question): ReactNode {
  const { logOut } = useSession();
  const { say } = useDialogs();
  /** The login leads back to the same place. */
  function logInAgain(): void {
    answer(null);
    logOut().catch((error: unknown) => say(messageOf(error), true));
  }

  return (
    <Dialog open onClose={() => answer(null)} aria-labelledby="confirm-title">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // A dialog is inside of the form that it interrupts, as React sees it.
          event.stopPropagation();
          answer(Object.fromEntries(new FormData(event.currentTarget)));
        }}
      >
        <DialogTitle id="confirm-title">Confirm that it is you</DialogTitle>
        <DialogContent>
          <DialogContentText sx={{ mb: 2 }}>
            Your login is older than 5 minutes. If your account has no password, log in again.
          </DialogContentText>
          <Stack spacing={2}>
            <PasswordField autoFocus />
            {needsCode && <CodeField />}
          </Stack>
        </DialogContent>
        <DialogActions>
          <Button onClick={() => answer(null)}>Cancel</Button>
          <Button onClick={logInAgain}>Log in again</Button>
          <Button type="submit" variant="contained">
            Confirm
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Makes a call that needs a recent login. @throws ApiError if the person cancels, too */
export function useRecently(): Recently {
  const recently = use(RecentlyContext);
  if (recently === undefined) throw new Error('There is no RecentlyProvider');
  return recently;
}

import { CircularProgress } from '@mui/material';
import { type ReactNode, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { Link, Route, Routes, useLocation } from 'react-router';
import { api, messageOf, read } from '../shared/api.js';
import { useDialogs } from '../shared/dialogs.js';
import { LoginForm } from '../shared/login/login-form.js';
import { nameOfProvider, type Returned } from '../shared/login/social.js';
import { useSession } from '../shared/session.js';
import { MAY_REGISTER } from '../shared/settings.js';
import { ForgottenPage, RegistrationPage } from './entrance.js';
import { MailPage } from './mail-page.js';
import { NarrowPage } from './narrow-page.js';
import { SectionsPage } from './sections-page.js';

/** The page where people log in, register, follow links from mails, and manage their account. */
export function AccountPage({ returned }: { returned: Returned | undefined }): ReactNode {
  // Here, because the gate comes again after other pages, and a code works once.
  const completion = useCompletion(returned);
  return (
    <>
      <HeaderEnd />
      <Routes>
        <Route path="/mail" element={<MailPage />} />
        <Route path="/forgot" element={<ForgottenPage />} />
        <Route path="/register" element={<RegistrationPage />} />
        <Route path="*" element={<Gate {...completion} />} />
      </Routes>
    </>
  );
}

/** The login, and after it the place that was asked for. */
function Gate({ isCompleting, first }: ReturnType<typeof useCompletion>): ReactNode {
  const { account } = useSession();
  const wanted = useReturnAddress();

  useEffect(() => {
    if (account && !isCompleting && wanted !== undefined) location.replace(wanted);
  }, [account, isCompleting, wanted]);

  if (account === undefined || isCompleting || (account && wanted !== undefined))
    return <CircularProgress aria-label="Loading" sx={{ m: 4 }} />;
  if (account) return <SectionsPage />;
  return (
    <NarrowPage title="Log in">
      <LoginForm first={first}>
        <div>
          <Link to="/forgot">Forgot your password?</Link>
          {MAY_REGISTER && (
            <>
              {' · '}
              <Link to="/register">Create an account</Link>
            </>
          )}
        </div>
      </LoginForm>
    </NarrowPage>
  );
}

/** The page of this service from which the person came here to log in: `#/?to=/docs`. */
function useReturnAddress(): string | undefined {
  const to = new URLSearchParams(useLocation().search).get('to');
  if (to === null || !URL.canParse(to, location.origin)) return undefined;
  const url = new URL(to, location.origin);
  if (url.origin !== location.origin || url.pathname === location.pathname) return undefined;
  // With its origin: a path may begin with two slashes, which would lead to another host.
  return `${url.origin}${url.pathname}${url.hash}`;
}

/** Completes a login at a provider, or says how it has ended. @returns also its second step, if there is one */
function useCompletion(returned: Returned | undefined) {
  const { account, begin } = useSession();
  const { say } = useDialogs();
  // The answer about an earlier session must not come after this login, which it would end.
  const isRestored = account !== undefined;
  const { login, linked, failure } = returned ?? {};
  const byCode = login && 'social_code' in login ? login : undefined;
  const [isCompleting, setCompleting] = useState(byCode !== undefined);

  useEffect(() => {
    if (failure !== undefined) say(failure, true);
    if (linked !== undefined) say(`${nameOfProvider(linked)} is linked.`);
    // Once for each time that the person comes back.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  useEffect(() => {
    if (!byCode || !isRestored) return;
    read(api.POST('/auth/session/', { body: byCode }))
      .then((session) => begin(session as Parameters<typeof begin>[0]))
      .catch((error: unknown) => say(messageOf(error), true))
      .finally(() => setCompleting(false));
    // A code works once.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isRestored]);

  const [isUsed, setUsed] = useState(false);
  useEffect(() => {
    if (account) setUsed(true);
  }, [account]);
  const first = !isUsed && login && 'mfa_token' in login ? login : undefined;
  return { isCompleting, first };
}

/** The right end of the header, which all pages of the service have. */
function HeaderEnd(): ReactNode {
  const { account, logOut } = useSession();
  const { say } = useDialogs();
  const place = document.getElementById('session');
  if (!account || !place) return null;
  return createPortal(
    <button
      type="button"
      className="button plain"
      onClick={() => void logOut().catch((error: unknown) => say(messageOf(error), true))}
    >
      Log out
    </button>,
    place,
  );
}

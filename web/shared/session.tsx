import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react';
import { api, ApiError, read, type Schemas, setCsrfToken, whenSessionEnds } from './api.js';

type Account = Schemas['Account'];

interface Session {
  /** `undefined` before the service has said whether there is one, `null` if there is none. */
  readonly account: Account | null | undefined;
  readonly begin: (session: Schemas['Session']) => void;
  /** Asks the service again: what was done without the session may have changed or ended it. */
  readonly restore: () => Promise<void>;
  readonly update: (account: Account) => void;
  readonly logOut: () => Promise<void>;
}

const SessionContext = createContext<Session | undefined>(undefined);

/** Tells the other pages that there is a session, because scripts cannot see its cookie. */
const HINT = 'session';

/** When the service is asked again that has not said whether there is a session, in milliseconds. */
const RETRY = 3000;

/** The session of the browser, which all pages share. */
export function SessionProvider({ children }: { children: ReactNode }): ReactNode {
  const client = useQueryClient();
  const [account, setAccount] = useState<Account | null>();
  const session = useMemo<Session>(() => {
    const restore = async (): Promise<void> => {
      try {
        const { account: who, csrf_token } = await read(api.GET('/auth/session/'));
        if (localStorage.getItem(HINT) === null) localStorage.setItem(HINT, 'on');
        setCsrfToken(csrf_token);
        setAccount((before) => {
          if (before && before.id !== who.id) client.clear();
          return who;
        });
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return end();
        // Whether there is one is not known, so a page that is open stays.
        setTimeout(() => void restore(), RETRY);
      }
    };
    const begin = ({ account: who, csrf_token }: Schemas['Session']) => {
      // Another value for each login: other tabs have the token of an earlier one.
      localStorage.setItem(HINT, String(Date.now()));
      client.clear();
      setCsrfToken(csrf_token);
      setAccount(who);
    };
    const end = () => {
      localStorage.removeItem(HINT);
      client.clear();
      setCsrfToken('');
      setAccount(null);
    };
    whenSessionEnds(end);
    const logOut = async () => {
      try {
        await read(api.DELETE('/auth/session/'));
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 401)) throw error;
      }
      end();
    };
    return { account, begin, restore, update: setAccount, logOut };
  }, [account, client]);

  useEffect(() => {
    const onChange = ({ key }: StorageEvent) => {
      if (key === HINT) void session.restore();
    };
    void session.restore();
    addEventListener('storage', onChange);
    return () => removeEventListener('storage', onChange);
    // The functions of a session do not change what they do.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  return <SessionContext value={session}>{children}</SessionContext>;
}

/** The account that is logged in. @throws Error outside of what only shows when there is one */
export function useAccount(): Account {
  const { account } = useSession();
  if (!account) throw new Error('Nobody is logged in');
  return account;
}

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === undefined) throw new Error('There is no SessionProvider');
  return session;
}

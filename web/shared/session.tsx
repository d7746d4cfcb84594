import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react';
import { api, ApiError, read, type Schemas, setCsrfToken, whenSessionEnds } from './api.js';

type Account = Schemas['Account'];

interface Session {
  /** `undefined` before the service has said whether there is one, `null` if there is none. */
  readonly account: Account | null | undefined;
  readonly begin: (session: Schemas['Session']) => void;
  readonly update: (account: Account) => void;
  readonly logOut: () => Promise<void>;
}

const SessionContext = createContext<Session | undefined>(undefined);

/** Tells the other pages that there is a session, because scripts cannot see its cookie. */
const HINT = 'session';

/** The session of the browser, which all pages share. */
export function SessionProvider({ children }: { children: ReactNode }): ReactNode {
  const [account, setAccount] = useState<Account | null>();
  const session = useMemo<Session>(() => {
    const begin = ({ account: who, csrf_token }: Schemas['Session']) => {
      localStorage.setItem(HINT, 'on');
      setCsrfToken(csrf_token);
      setAccount(who);
    };
    const end = () => {
      localStorage.removeItem(HINT);
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
    return { account, begin, update: setAccount, logOut };
  }, [account]);

  useEffect(() => {
    const restore = () => read(api.GET('/auth/session/')).then(session.begin, () => setAccount(null));
    const onChange = ({ key }: StorageEvent) => {
      if (key === HINT) void restore();
    };
    void restore();
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

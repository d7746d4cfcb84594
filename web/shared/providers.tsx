import { CssBaseline, ThemeProvider, createTheme, useMediaQuery } from '@mui/material';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { DialogsProvider } from './dialogs.js';
import { RecentlyProvider } from './recently.js';
import { SessionProvider } from './session.js';
import { DARK, LIGHT } from './theme.js';

const THEMES = { light: createTheme(LIGHT), dark: createTheme(DARK) };

export const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });

/** What both pages need: the colours of the system, the session, and dialogs. */
export function Providers({ children }: { children: ReactNode }): ReactNode {
  const isDark = useMediaQuery('(prefers-color-scheme: dark)', { noSsr: true });
  return (
    <ThemeProvider theme={THEMES[isDark ? 'dark' : 'light']}>
      <CssBaseline />
      <QueryClientProvider client={queryClient}>
        <SessionProvider>
          <DialogsProvider>
            <RecentlyProvider>{children}</RecentlyProvider>
          </DialogsProvider>
        </SessionProvider>
      </QueryClientProvider>
    </ThemeProvider>
  );
}

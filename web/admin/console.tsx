import { Box, Button, CircularProgress, Container, Typography } from '@mui/material';
import type { ReactNode } from 'react';
import {
  Admin,
  AppBar,
  CustomRoutes,
  defaultDarkTheme,
  defaultLightTheme,
  Layout,
  Menu,
  type RaThemeOptions,
  Resource,
  TitlePortal,
  UserMenu,
} from 'react-admin';
import { Route } from 'react-router';
import { messageOf, ROOT } from '../shared/api.js';
import { useDialogs } from '../shared/dialogs.js';
import { LoginForm } from '../shared/login/login-form.js';
import { queryClient } from '../shared/providers.js';
import { useAccount, useSession } from '../shared/session.js';
import { SERVICE } from '../shared/settings.js';
import { DARK, LIGHT } from '../shared/theme.js';
import { dataProvider } from './data-provider.js';
import { PAGES, RESOURCES } from './contents.js';

const THEMES = {
  theme: { ...defaultLightTheme, ...LIGHT } as RaThemeOptions,
  darkTheme: { ...defaultDarkTheme, ...DARK } as RaThemeOptions,
};

/** The console for staff: a client of the REST API like any other. */
export function Console(): ReactNode {
  const { account, logOut } = useSession();
  const { say } = useDialogs();
  if (account === undefined) return <CircularProgress aria-label="Loading" sx={{ m: 4 }} />;
  if (account === null) {
    return (
      <Entrance title="Log in to the console">
        <LoginForm />
      </Entrance>
    );
  }
  const leave = () => logOut().catch((error: unknown) => say(messageOf(error), true));
  if (!account.is_staff) {
    return (
      <Entrance title="For staff only">
        <Typography sx={{ mb: 2 }}>
          {account.email} is not an account of staff, so the service answers 403. A superuser can make it one.
        </Typography>
        <Button variant="contained" onClick={() => void leave()}>
          Log in with another account
        </Button>
      </Entrance>
    );
  }
  return (
    <Admin
      {...THEMES}
      title={SERVICE}
      layout={ConsoleLayout}
      dataProvider={dataProvider}
      queryClient={queryClient}
      disableTelemetry
      authProvider={{
        login: () => Promise.resolve(),
        logout: () => leave().then(() => false as const),
        checkAuth: () => Promise.resolve(),
        // A session that has ended shows the login instead of this.
        checkError: () => Promise.resolve(),
        getIdentity: () => Promise.resolve({ id: account.id, fullName: account.name }),
        getPermissions: () => Promise.resolve(account.is_superuser ? 'superuser' : 'staff'),
      }}
    >
      {RESOURCES.map((resource) => (
        <Resource key={resource.name} {...resource} />
      ))}
      <CustomRoutes>
        {PAGES.map(({ path, page }) => (
          <Route key={path} path={path} element={page} />
        ))}
      </CustomRoutes>
    </Admin>
  );
}

const ConsoleLayout = ({ children }: { children: ReactNode }): ReactNode => (
  <Layout menu={ConsoleMenu} appBar={ConsoleBar} sx={NARROW}>
    {children}
  </Layout>
);

/** Tables scroll by themselves where the screen is too narrow for them. */
const NARROW = {
  minWidth: 0,
  '& .RaLayout-appFrame, & .RaLayout-contentWithSidebar, & .RaLayout-content': {
    minWidth: 0,
    maxWidth: '100%',
  },
  '& .RaList-main .RaDatagrid-tableWrapper': { overflowX: 'auto' },
  '& .RaList-main': { minWidth: 0 },
};

/** The name of the page is its heading, and the menu of the person has their name. */
function ConsoleBar(): ReactNode {
  const { name } = useAccount();
  return (
    <AppBar userMenu={<UserMenu label={name} />}>
      <TitlePortal component="h1" />
    </AppBar>
  );
}

const ConsoleMenu = (): ReactNode => (
  <>
    <Box sx={{ px: 2, pt: 1 }}>
      <a href={ROOT}>{SERVICE}</a>
    </Box>
    <Menu>
      {RESOURCES.map(({ name }) => (
        <Menu.ResourceItem key={name} name={name} />
      ))}
      {PAGES.map(({ path, title, icon }) => (
        <Menu.Item key={path} to={path} primaryText={title} leftIcon={icon} />
      ))}
    </Menu>
  </>
);

const Entrance = ({ title, children }: { title: string; children: ReactNode }): ReactNode => (
  <Container component="main" maxWidth="xs" sx={{ py: 6 }}>
    <Box sx={{ mb: 2 }}>
      <a href={ROOT}>{SERVICE}</a>
    </Box>
    <Typography variant="h1" sx={{ mb: 2 }}>
      {title}
    </Typography>
    {children}
  </Container>
);

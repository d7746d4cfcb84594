import { Box, Button, CircularProgress, Container, type Theme, Typography } from '@mui/material';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import {
  Admin,
  AppBar,
  CustomRoutes,
  defaultDarkTheme,
  defaultLightTheme,
  Layout,
  memoryStore,
  Menu,
  type RaThemeOptions,
  Resource,
  TitlePortal,
  UserMenu,
} from 'react-admin';
import { Route, useLocation } from 'react-router';
import { messageOf, ROOT } from '../shared/api.js';
import { useDialogs } from '../shared/dialogs.js';
import { LoginForm } from '../shared/login/login-form.js';
import { queryClient } from '../shared/providers.js';
import { useAccount, useSession } from '../shared/session.js';
import { SERVICE } from '../shared/settings.js';
import { DARK, LIGHT, scrolling } from '../shared/theme.js';
import { dataProvider } from './data-provider.js';
import { PAGES, RESOURCES } from './contents.js';

/** Nothing is deleted without a question: pages delete one record, after one. */
const components = {
  RaDatagrid: { defaultProps: { bulkActionButtons: false } },
  RaDataTable: { defaultProps: { bulkActionButtons: false } },
};

const THEMES = {
  // Cards are white on it.
  theme: {
    ...defaultLightTheme,
    ...LIGHT,
    components: { ...LIGHT.components, ...components },
    palette: { ...LIGHT.palette, background: { default: '#f4f6f9', paper: '#ffffff' } },
  } as RaThemeOptions,
  darkTheme: {
    ...defaultDarkTheme,
    ...DARK,
    components: { ...DARK.components, ...components },
  } as RaThemeOptions,
};

/** The console for staff: a client of the REST API like any other. */
export function Console(): ReactNode {
  const { account, logOut } = useSession();
  const { say } = useDialogs();
  const id = account?.id;
  // What was searched for is kept in no storage of the browser, and is gone with the login.
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const store = useMemo(() => memoryStore(), [id]);
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
      store={store}
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

function ConsoleLayout({ children }: { children: ReactNode }): ReactNode {
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  useEffect(() => {
    // The keyboard goes on in the page that a link has opened.
    const content = document.getElementById('main-content');
    if (shown.current === pathname || !content) return;
    shown.current = pathname;
    content.tabIndex = -1;
    content.focus();
  }, [pathname]);
  return (
    <Layout menu={ConsoleMenu} appBar={ConsoleBar} sx={narrow}>
      {children}
    </Layout>
  );
}

/** Tables scroll by themselves where the screen is too narrow for them. */
const narrow = (theme: Theme) => ({
  minWidth: 0,
  '& .RaLayout-appFrame, & .RaLayout-contentWithSidebar, & .RaLayout-content': {
    minWidth: 0,
    maxWidth: '100%',
  },
  '& .RaList-main .RaDatagrid-tableWrapper': scrolling(theme),
  '& .RaDatagrid-headerCell': { background: 'none' },
  '& .column-title, & .column-name, & .column-undefined': { minWidth: 160 },
  '& .column-created_at': { whiteSpace: 'nowrap' },
  '& .RaList-main': { minWidth: 0 },
  // On small screens it is high without any content.
  '& .RaList-actions .MuiToolbar-root': { minHeight: 0, background: 'none' },
  '& .RaLayout-content:focus': { outline: 'none' },
  // Where a button floats, it has a place below the list.
  [theme.breakpoints.down('md')]: { '& .RaList-main': { paddingBottom: '80px' } },
});

/** The name of the page is its heading, and the menu of the person has their name. */
function ConsoleBar(): ReactNode {
  const { name } = useAccount();
  return (
    <AppBar userMenu={<UserMenu label={name} />}>
      <TitlePortal component="h1" sx={{ '& .RaConfigurable-root': { display: 'inline' } }} />
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

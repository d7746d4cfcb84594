/** The login form: gives Swagger UI the access token, which it keeps across reloads until the logout. */
window.setUpLogin = (ui) => {
  const REFRESH = 'reference.refresh';
  const form = document.getElementById('login');
  const state = document.getElementById('login-state');
  const logout = document.getElementById('logout');

  const call = (path, body) =>
    fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const show = (text) => {
    state.textContent = text;
    logout.hidden = localStorage.getItem(REFRESH) === null;
  };
  const showFailure = () => show('The service cannot be reached');

  const logIn = async () => {
    const { email, password } = Object.fromEntries(new FormData(form));
    const response = await call('/auth/login/', { email, password });
    const body = await response.json();
    if (!response.ok) {
      show(body.error.message);
      return;
    }
    ui.authActions.authorizeWithPersistOption({
      bearer: { name: 'bearer', schema: { type: 'http', scheme: 'bearer' }, value: body.access },
    });
    localStorage.setItem(REFRESH, body.refresh);
    form.elements.password.value = '';
    show('Logged in; the token is valid for 30 minutes');
  };

  const logOut = async () => {
    const refresh = localStorage.getItem(REFRESH);
    localStorage.removeItem(REFRESH);
    ui.authActions.logoutWithPersistOption(['bearer']);
    show('Logged out');
    await call('/auth/logout/', { refresh });
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    logIn().catch(showFailure);
  });
  logout.addEventListener('click', () => {
    logOut().catch(showFailure);
  });
  show('');
};

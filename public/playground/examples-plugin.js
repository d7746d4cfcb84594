// The list of the examples: each opens in a new tab.

/* global GraphiQL, React */

import { EXAMPLES } from './examples.js';

const create = React.createElement;

/** The guide of what a GraphQL client would subscribe to. */
const EVENTS = new URL('../../guides/events', import.meta.url).href;

/** The name of the operation, and the comment above it. */
function describe({ query }) {
  const [comment] = query.split('\n');
  return { name: /(?:query|mutation) (\w+)/.exec(query)[1], text: comment.slice(2) };
}

function ExampleList() {
  const { addTab, tabs, queryEditor, variableEditor } = GraphiQL.React.useEditorContext();
  const chosen = React.useRef();
  // The editors are those of the new tab only after it was rendered.
  React.useEffect(() => {
    if (chosen.current === undefined) return;
    const { query, variables = '' } = chosen.current;
    chosen.current = undefined;
    queryEditor.setValue(query);
    variableEditor.setValue(variables);
    queryEditor.focus();
  }, [tabs.length, queryEditor, variableEditor]);

  const open = (example) => {
    chosen.current = example;
    addTab();
  };
  const items = EXAMPLES.map((example) => {
    const { name, text } = describe(example);
    const button = create('button', { type: 'button', onClick: () => open(example) }, name);
    return create('li', { key: name }, button, create('p', null, text));
  });
  return create(
    'section',
    { className: 'examples', 'aria-label': 'Examples' },
    create('h2', null, 'Examples'),
    create('ul', null, items),
    create(
      'p',
      null,
      'Changes are pushed over HTTP: ',
      create('a', { href: EVENTS }, 'the event stream'),
      '.',
    ),
  );
}

const Icon = () =>
  create(
    'svg',
    { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', strokeWidth: 1.5, strokeLinecap: 'round' },
    create('path', { d: 'M4 6h.01M4 12h.01M4 18h.01M9 6h11M9 12h11M9 18h11' }),
  );

export const EXAMPLES_PLUGIN = { title: 'Examples', icon: Icon, content: ExampleList };

import type { MailMessage } from './mail-transport.js';

/** The content of a mail. Both of its parts are rendered from it, so that they cannot differ. */
export interface MailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Between the first paragraph and the others. */
  readonly link?: { readonly label: string; readonly url: string };
}

const FONT = 'font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif';
const BUTTON = `${FONT};display:inline-block;padding:10px 18px;border-radius:6px;background:#1a5fb4;color:#fff;text-decoration:none`;

/** Renders the plain text and the HTML of a mail. */
export function render({ subject, paragraphs, link }: MailContent): Omit<MailMessage, 'to'> {
  const [first = '', ...others] = paragraphs;
  const text = [first, ...(link ? [`${link.label}:\n${link.url}`] : []), ...others].join('\n\n');
  const body = [
    paragraph(escape(first)),
    ...(link
      ? [
          paragraph(`<a href="${escape(link.url)}" style="${escape(BUTTON)}">${escape(link.label)}</a>`),
          paragraph(`If the button does not work, open this address:<br>${escape(link.url)}`),
        ]
      : []),
    ...others.map((each) => paragraph(escape(each))),
  ].join('\n');
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(subject)}</title>
</head>
<body style="margin:0 auto;padding:24px;max-width:560px">
${body}
</body>
</html>
`;
  return { subject, text: `${text}\n`, html, link: link?.url };
}

const paragraph = (html: string): string =>
  `<p style="${escape(FONT)};margin:0 0 16px;overflow-wrap:anywhere">${html}</p>`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);

/** Links to the documentation and the sources. vite.config.ts takes their addresses from the environment of the build. */
declare const DOCS_URL: string | null;
declare const SOURCE_URL: string | null;

const LINKS = [
  { name: 'Documentation', url: DOCS_URL },
  { name: 'Source', url: SOURCE_URL },
].filter((link): link is { name: string; url: string } => link.url !== null);

export const OutsideLinks = () =>
  LINKS.length === 0 ? null : (
    <p class="outside">
      {LINKS.map(({ name, url }) => (
        <a key={name} href={url}>
          {name}
        </a>
      ))}
    </p>
  );

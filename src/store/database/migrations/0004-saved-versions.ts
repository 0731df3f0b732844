/** What was saved of files that people edit, so that an earlier version can be seen and brought back. */
export const SAVED_VERSIONS = `
CREATE TABLE saved_versions (
  workspace TEXT NOT NULL,
  kind VARCHAR(20) NOT NULL CHECK (kind IN ('panel', 'pipeline')),
  name VARCHAR(100) NOT NULL,
  version INTEGER NOT NULL,
  text TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  author TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  PRIMARY KEY (workspace, kind, name, version)
);
`

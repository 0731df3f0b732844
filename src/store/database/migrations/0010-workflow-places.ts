/**
 * Which workspace a workflow belongs to: a server works with agents of its own workspace only. Workflows that stand for a
 * workspace are named by its path; those that were made over HTTP belong where their runs were.
 */
export const WORKFLOW_PLACES = `
ALTER TABLE workflows ADD COLUMN workspace TEXT;
UPDATE workflows w SET workspace = CASE WHEN name LIKE '/%' THEN name
  ELSE (SELECT r.workspace FROM workflow_runs r WHERE r.workflow_id = w.id ORDER BY r.created_at LIMIT 1) END;
`

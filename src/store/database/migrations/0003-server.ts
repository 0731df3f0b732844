/** What the server adds: events of a workspace that belong to no run, and runs that wait for a worker. */
export const SERVER = `
ALTER TABLE run_events ALTER COLUMN workflow_run_id DROP NOT NULL;
-- Set where there is no run to say so.
ALTER TABLE run_events ADD COLUMN workspace TEXT;

-- Two machines may have other files under the same path: whoever works on a run has the folder with this id.
ALTER TABLE workflow_runs ADD COLUMN workspace_id TEXT;
-- Runs with stop_reason 'queued' wait for a worker, the oldest first.
ALTER TABLE workflow_runs ADD COLUMN queued_at TIMESTAMPTZ;
CREATE INDEX idx_workflow_runs_queue ON workflow_runs (workspace, queued_at) WHERE executor IS NULL AND status = 'pending';
`

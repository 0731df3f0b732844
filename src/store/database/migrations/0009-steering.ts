/** What a person wants of one agent in a run: that it ends with all below it, or that it hears something. */
export const STEERING = `
ALTER TABLE agent_executions ADD COLUMN stop_requested_at TIMESTAMPTZ;
-- Names of what it was offered; null for the agent of the run itself, whose spec says it.
ALTER TABLE agent_executions ADD COLUMN tools JSONB;
ALTER TABLE run_messages ADD COLUMN execution_id UUID REFERENCES agent_executions(id) ON DELETE CASCADE;
ALTER TABLE workflow_runs ALTER COLUMN requested TYPE VARCHAR(20);
ALTER TABLE workflow_runs DROP CONSTRAINT workflow_runs_requested_check;
ALTER TABLE workflow_runs ADD CONSTRAINT workflow_runs_requested_check
  CHECK (requested IN ('pause', 'stop', 'stop_after_step'));
`

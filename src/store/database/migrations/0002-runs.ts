/** What happened: runs, the executions of agents in them, messages, tool calls, claims, questions, events, usage. */
export const RUNS = `
CREATE TABLE workflow_runs (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  workflow_id UUID NOT NULL REFERENCES workflows(id) ON DELETE CASCADE,
  status VARCHAR(20) NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
  -- Why it stands still or ended: end_turn, awaiting_approval, paused, limit_reached, denied, cancelled, error, …
  stop_reason VARCHAR(40),
  started_at TIMESTAMPTZ,
  completed_at TIMESTAMPTZ,
  error_message TEXT,
  workspace TEXT NOT NULL,
  task TEXT NOT NULL,
  -- What was asked for: model, tools, mode, limits, authority. Never changes, so that a resumed run is the same run.
  spec JSONB NOT NULL DEFAULT '{}',
  -- The number of the next turn; each is one workflow of the engine under the id run:tN.
  turn INTEGER NOT NULL DEFAULT 1,
  -- Whoever works on it. Only the owner may claim an effect or write down a state.
  executor TEXT,
  -- What a person wants of a running run: pause or stop.
  requested VARCHAR(10) CHECK (requested IN ('pause', 'stop')),
  created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE INDEX idx_workflow_runs_created_at ON workflow_runs (created_at DESC);
CREATE INDEX idx_workflow_runs_status ON workflow_runs (status);
CREATE TRIGGER update_workflow_runs_updated_at BEFORE UPDATE ON workflow_runs
  FOR EACH ROW EXECUTE FUNCTION update_updated_at_column();

CREATE TABLE agent_executions (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  agent_id UUID REFERENCES agents(id) ON DELETE SET NULL,
  workflow_run_id UUID NOT NULL REFERENCES workflow_runs(id) ON DELETE CASCADE,
  parent_execution_id UUID REFERENCES agent_executions(id) ON DELETE CASCADE,
  status VARCHAR(20) NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'running', 'completed', 'failed')),
  stop_reason VARCHAR(40),
  input_text TEXT NOT NULL,
  output_text TEXT,
  token_usage JSONB,
  duration_ms BIGINT,
  error_message TEXT,
  -- The loop's state without its messages, written down after every step.
  state JSONB,
  started_at TIMESTAMPTZ,
  completed_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE INDEX idx_agent_executions_run ON agent_executions (workflow_run_id);

CREATE TABLE agent_messages (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  execution_id UUID NOT NULL REFERENCES agent_executions(id) ON DELETE CASCADE,
  role VARCHAR(20) NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
  content JSONB NOT NULL,
  sequence_order INTEGER NOT NULL,
  created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  UNIQUE (execution_id, sequence_order)
);

CREATE TABLE orchestration_runs (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  orchestrator_agent_id UUID REFERENCES agents(id) ON DELETE SET NULL,
  workflow_run_id UUID NOT NULL REFERENCES workflow_runs(id) ON DELETE CASCADE,
  execution_id UUID NOT NULL REFERENCES agent_executions(id) ON DELETE CASCADE,
  mode VARCHAR(20) NOT NULL CHECK (mode IN ('automatic', 'approval')),
  status VARCHAR(20) NOT NULL DEFAULT 'running'
    CHECK (status IN ('running', 'awaiting_approval', 'completed', 'failed', 'rejected')),
  plan_json JSONB,
  messages_json JSONB,
  final_output TEXT,
  created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE INDEX idx_orchestration_runs_run ON orchestration_runs (workflow_run_id);
CREATE TRIGGER update_orchestration_runs_updated_at BEFORE UPDATE ON orchestration_runs
  FOR EACH ROW EXECUTE FUNCTION update_updated_at_column();

CREATE TABLE tool_executions (
  id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
  execution_id UUID REFERENCES agent_executions(id) ON DELETE SET NULL,
  tool_name VARCHAR(100) NOT NULL,
  input JSONB NOT NULL,
  output TEXT,
  is_error BOOLEAN NOT NULL DEFAULT FALSE,
  duration_ms BIGINT,
  -- The id of the call in the audit log.
  call_id TEXT NOT NULL UNIQUE,
  error_code VARCHAR(40),
  decision JSONB,
  effects JSONB,
  -- Interrupted after its claim: nobody knows whether it had its effect.
  is_ambiguous BOOLEAN NOT NULL DEFAULT FALSE,
  created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE INDEX idx_tool_executions_execution_id ON tool_executions (execution_id);

-- Committed before a call with side effects runs; the result after it. A claim without a result is never run again.
CREATE TABLE claims (
  call_id TEXT PRIMARY KEY,
  execution_id UUID NOT NULL REFERENCES agent_executions(id) ON DELETE CASCADE,
  tool_name VARCHAR(100) NOT NULL,
  digest TEXT NOT NULL,
  executor TEXT NOT NULL,
  -- Tells a claim that was repeated after a lost connection from somebody else's.
  token UUID NOT NULL,
  claimed_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  result JSONB,
  finished_at TIMESTAMPTZ
);
CREATE INDEX idx_claims_execution_id ON claims (execution_id);

-- Which calls of a run wait, or waited, for an answer. The question itself and its answer are where all questions are, so
-- that there is one inbox; id is its id there.
CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  workflow_run_id UUID NOT NULL REFERENCES workflow_runs(id) ON DELETE CASCADE,
  execution_id UUID REFERENCES agent_executions(id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  status VARCHAR(20) NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'stale', 'cancelled')),
  decided_by TEXT,
  decided_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE INDEX idx_approvals_status ON approvals (status);
CREATE INDEX idx_approvals_run ON approvals (workflow_run_id);

CREATE TABLE run_events (
  seq BIGSERIAL PRIMARY KEY,
  -- Given by the writer, so that writing one twice is the same as writing it once.
  id UUID NOT NULL UNIQUE,
  workflow_run_id UUID NOT NULL REFERENCES workflow_runs(id) ON DELETE CASCADE,
  execution_id UUID,
  type VARCHAR(40) NOT NULL,
  data JSONB NOT NULL,
  at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE INDEX idx_run_events_run ON run_events (workflow_run_id, seq);

CREATE TABLE usage (
  -- Given by the writer: one row per request to a model.
  id UUID PRIMARY KEY,
  workflow_run_id UUID REFERENCES workflow_runs(id) ON DELETE SET NULL,
  execution_id UUID REFERENCES agent_executions(id) ON DELETE SET NULL,
  provider VARCHAR(100) NOT NULL,
  model VARCHAR(200) NOT NULL,
  -- Disjoint: their sum is what the vendor counted.
  input_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  -- Null: the price of the model is not known.
  cost_usd NUMERIC(14, 8),
  duration_ms INTEGER NOT NULL,
  at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE INDEX idx_usage_at ON usage (at);

-- What a person says to a running agent; it enters with the next turn.
CREATE TABLE run_messages (
  id UUID PRIMARY KEY,
  workflow_run_id UUID NOT NULL REFERENCES workflow_runs(id) ON DELETE CASCADE,
  content TEXT NOT NULL,
  sequence BIGSERIAL,
  created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
  taken_at TIMESTAMPTZ
);

-- Whoever works on runs, each with an advisory lock that the server frees when its connection breaks.
CREATE TABLE executors (
  id TEXT PRIMARY KEY,
  lock_key BIGINT NOT NULL,
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  started_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
`
